"""The documents that the browser tests look at: one for every form, and some that mean harm."""

from ingest.extract.make_pdf import drawn, lines

PLANTS = {
    "watering.md": "# Watering\n\nPlants by the window.\n\n## Ferns\n\nFerns want damp soil and no direct sun.\n"
    "Mist the fronds twice a week in winter.\n\n## Cacti\n\nA cactus is watered once a month.\n\n"
    "| plant | litres |\n| --- | ---: |\n| fern | 2 |\n| cactus | 0.1 |\n\n"
    "1. Fill the can.\n2. Wait a day.\n\n- [x] ferns\n- [ ] cacti\n\n```python\nlitres = 2\n```\n\n"
    "See [the pests](pests/aphids.md), [upwards](../../../etc/passwd) and [the garden](https://example.org/garden).\n",
    "pests/aphids.md": "# Aphids\n\nAphids are small green insects. Ladybirds eat them.\n",
    "astral.md": "# Signs\n\n\U0001f331\U0001f331 The seedling 🌱 quaternion grows 🌿 quickly.\n",
    "pump.py": '"""A pump."""\n\n\ndef start_pump(litres: float) -> None:\n    """Move litres of rainwater."""\n'
    "    if litres < 0:\n        raise ValueError(litres)\n    print(litres)\n",
    "diary.txt": "Monday: sowed the radishes.\nTuesday: rain.\nWednesday: the radishes sprouted.\n",
    "long.txt": "".join(f"Row {number} of the ledger.\n" for number in range(1, 6001)).replace("Row 5200", "Marigold"),
}

PAPERS = {
    "almanac.pdf": drawn(
        lines("The almanac of gardens", "Spring comes first.", y=740),
        lines("Summer follows.", "Sunflowers turn towards the light all day.", y=740),
        lines("Autumn is for apples.", y=740),
    ),
    "broken.pdf": b"%PDF-1.7 and then nothing",
}

HOSTILE = {
    "scripts.md": "# Poisoned <script>window.owned=1</script>\n\nhemlock <img src=x onerror=window.owned=2> text\n\n"
    "<script>window.owned = 3</script>\n\n<svg onload=window.owned=4><script>window.owned=5</script></svg>\n\n"
    "<iframe srcdoc='<script>parent.owned=6</script>'></iframe>\n\n"
    "[click hemlock](javascript:window.owned=7) [space](java\tscript:window.owned=8)\n"
    "[data](data:text/html,<script>1</script>) [entity](&#106;avascript:window.owned=9) [vb](vbscript:x)\n"
    "[slashes](//evil.example/x) ![i](javascript:window.owned=10) [ref][r] <javascript:window.owned=11>\n\n"
    "[r]: javascript:window.owned=12\n",
    "drawing.md": '<svg xmlns="http://www.w3.org/2000/svg" onload="window.owned=13"><script>window.owned=14</script>'
    "<text>hemlock drawing</text></svg>\n",
    "page.html": "<!doctype html><title>Hemlock page</title><h1 onclick='window.owned=15'>Hemlock</h1>"
    "<script>window.owned=16</script><p>hemlock <a href='javascript:window.owned=17'>here</a></p>"
    "<style>body{display:none}</style>\n",
    "stars.md": "# Stars\n\nnightshade " + "*a **b _c " * 1500 + "[" * 900 + "\n\n" + "> " * 200 + "deep\n",
}

FOLDERS: dict[str, dict[str, str | bytes]] = {"plants": {**PLANTS}, "papers": {**PAPERS}, "hostile": {**HOSTILE}}
