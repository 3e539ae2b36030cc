"""The page of `lineproof serve`: static files, and the routes that serve them."""
