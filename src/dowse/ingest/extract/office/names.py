"""The namespaces of Office files, in the form in which they stand before the tags of parsed elements."""

__all__ = ["CHART", "COMPATIBILITY", "DIAGRAM", "DRAWING", "MATH", "RELATION", "SHEET", "SLIDE", "WORD"]

_SCHEMAS = "http://schemas.openxmlformats.org"

WORD = f"{{{_SCHEMAS}/wordprocessingml/2006/main}}"
SHEET = f"{{{_SCHEMAS}/spreadsheetml/2006/main}}"
SLIDE = f"{{{_SCHEMAS}/presentationml/2006/main}}"
DRAWING = f"{{{_SCHEMAS}/drawingml/2006/main}}"
CHART = f"{{{_SCHEMAS}/drawingml/2006/chart}}"
DIAGRAM = f"{{{_SCHEMAS}/drawingml/2006/diagram}}"
MATH = f"{{{_SCHEMAS}/officeDocument/2006/math}}"
RELATION = f"{{{_SCHEMAS}/officeDocument/2006/relationships}}"
COMPATIBILITY = f"{{{_SCHEMAS}/markup-compatibility/2006}}"
