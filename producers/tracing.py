"""The OpenTelemetry trace that a run belongs to."""


def current_trace_id() -> str | None:
    """The W3C trace id (32 hex digits) of the active OpenTelemetry span; None if there is none."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None
