"""Mail: single messages and mailboxes."""

from dowse.ingest.extract.mail.reading import extract_eml, extract_mbox

__all__ = ["extract_eml", "extract_mbox"]
