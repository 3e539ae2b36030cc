"""The trace that a run is part of."""


def current_trace_id() -> str | None:
    """The W3C id (32 hex digits) of the active OpenTelemetry span, where the service uses OpenTelemetry."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None
