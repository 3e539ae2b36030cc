select order_id, customer, amount
from {{ ref("raw_orders") }}
