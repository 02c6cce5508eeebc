"""Web pages: what they are about, as Markdown, whatever surrounds it and however broken the markup is."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.errors import SourceError
from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract, media_type_of
from dowse.ingest.extract.hypertext import read_html
from dowse.ingest.extract.hypertext.tokens import tokens
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking
from ingest.extract.checking import check, read_or_refuse

unhurried = settings(deadline=None)

WORDS = TokenCounter(None)
PROSE = "Green tea wants water well below the boiling point, or it turns bitter within a minute. "
PAGE = f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
  <meta charset="utf-8">
  <title>Green tea &amp; water &mdash; The Tea House</title>
  <meta name="description" content="How hot the water
     should be.">
  <meta name="author" content="Ada Byron">
  <meta name="keywords" content="tea, water; heat, tea">
  <meta property="og:site_name" content="The Tea House">
  <meta property="article:published_time" content="2024-05-01T10:00:00Z">
  <style>p {{ color: STYLED }}</style>
  <script>document.write("<p>SCRIPTED</p>")</script>
</head>
<body>
  <header><a href="/">The Tea House</a>
    <nav><ul><li><a href="/shop">Shop</a></li><li><a href="/about">About us</a></li></ul></nav></header>
  <div id="cookie-banner">We value your privacy. <button>Accept</button></div>
  <main>
    <article>
      <header><h1>Green tea <a class="headerlink" href="#tea">&para;</a></h1><p>By Ada Byron</p></header>
      <p>{PROSE}See the <a href="https://example.org/guide?a=1&amp;b=(2)">long guide</a>
         or <a href="../steep.html"><code>steep()</code></a>.</p>
      <h2>Temperatures</h2>
      <table>
        <thead><tr><th>Tea</th><th>Water</th></tr></thead>
        <tbody><tr><td>Sencha</td><td>70 | 80</td></tr><tr><td>Gyokuro</td><td>60</td></tr></tbody>
      </table>
      <h3>Steps</h3>
      <ol><li>Heat it.<li>Wait.<ul><li>a minute</ul><li>Pour.</ol>
      <pre><code class="language-python">def steep(tea):
    return tea &lt; 3
</code></pre>
      <p hidden>HIDDEN</p><p>Seen<span style="display: none">HIDDEN</span>.</p>
      <aside><p>A note beside the text.</p></aside>
    </article>
  </main>
  <footer><p>Copyright of the tea house.</p></footer>
</body>
</html>
"""


def page(body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"


def read(markup: str, **options: bool) -> Extracted:
    return check(read_html(markup, **options))


def text_of(body: str, **options: bool) -> str:
    return read(page(body), **options).text.strip()


def blocks_of(body: str) -> list[tuple[str, str]]:
    extracted = read(page(body))
    return [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]


class TestAPage:
    def test_is_its_main_part_as_markdown(self):
        extracted = check(extract(PAGE.encode(), "text/html", "tea.html"))
        assert extracted.text.strip() == (
            "# Green tea\n\n"
            "By Ada Byron\n\n"
            f"{PROSE}See the [long guide](https://example.org/guide?a=1&b=%282%29) or [`steep()`](../steep.html).\n\n"
            "## Temperatures\n\n"
            "| Tea | Water |\n| --- | --- |\n| Sencha | 70 \\| 80 |\n| Gyokuro | 60 |\n\n"
            "### Steps\n\n"
            "1. Heat it.\n2. Wait.\n   - a minute\n3. Pour.\n\n"
            "```python\ndef steep(tea):\n    return tea < 3\n```\n\n"
            "Seen.\n\n"
            "A note beside the text."
        )

    def test_has_blocks_of_every_kind(self):
        extracted = read(PAGE)
        assert [(block.kind, block.level, block.label) for block in extracted.blocks] == [
            ("heading", 1, "Green tea"),
            ("paragraph", 0, ""),
            ("paragraph", 0, ""),
            ("heading", 2, "Temperatures"),
            ("table", 0, ""),
            ("heading", 3, "Steps"),
            ("list", 0, ""),
            ("code", 0, ""),
            ("paragraph", 0, ""),
            ("paragraph", 0, ""),
        ]

    def test_says_what_it_is(self):
        extracted = read(PAGE)
        assert extracted.title == "Green tea & water — The Tea House"
        assert extracted.metadata == {
            "description": "How hot the water should be.",
            "author": "Ada Byron",
            "created": "2024-05-01T10:00:00Z",
            "tags": ["tea", "water", "heat"],
            "site": "The Tea House",
            "language": "en-GB",
        }

    def test_gives_passages_that_know_their_headings_and_lines(self):
        extracted = read(PAGE)
        chunks = chunk(extracted, WORDS, Chunking(200, min_tokens=4))
        assert [(each.headings, each.level) for each in chunks] == [
            (("Green tea",), 1),
            (("Green tea", "Temperatures"), 2),
            (("Green tea", "Temperatures", "Steps"), 3),
        ]
        lines = extracted.text.split("\n")
        for each in chunks:
            assert each.text == extracted.text[each.start : each.end]
            assert each.text == "\n".join(lines[each.first_line - 1 : each.last_line])

    @pytest.mark.parametrize("name", ["a.html", "A.HTM", "b.shtml"])
    def test_is_known_by_its_name(self, name):
        assert media_type_of(name) == "text/html"

    def test_without_any_text_is_empty(self):
        assert read("").text == ""
        assert read(page("<div id=root></div><script>start()</script>", "<title>App</title>")).title == "App"


class TestTitle:
    @pytest.mark.parametrize(
        ("markup", "title"),
        [
            (page("<h1>Heading</h1>", "<title> The\n title </title>"), "The title"),
            (page("<h1>Heading</h1>", '<meta property="og:title" content="Shared">'), "Shared"),
            (page("<p>Before</p><h2>Some <b>heading</b></h2>"), "Some heading"),
            (page("<svg><title>Icon</title></svg><p>Text"), None),
            ("<title>Unclosed<p>Text of the page", None),
        ],
    )
    def test_comes_from_the_head_or_the_first_heading(self, markup, title):
        assert read(markup).title == title

    def test_above_the_main_part_is_kept(self):
        markup = page(f"<div class=hero><h1>The title</h1><p>A slogan.</p></div><main><p>{PROSE}</p></main>")
        assert read(markup).text.startswith(f"# The title\n\n{PROSE.strip()}")

    def test_in_the_header_of_a_page_is_no_banner(self):
        body = f"<header id=title-block-header><h1>Paper</h1><p>Ada</p></header><p>{PROSE}</p>"
        assert text_of(body).startswith("# Paper\n\nAda\n\nGreen tea")


class TestZones:
    @pytest.mark.parametrize(
        "chrome",
        [
            "<nav><p>CHROME</p></nav>",
            "<footer>CHROME</footer>",
            "<aside><p>CHROME</p></aside>",
            "<div role=navigation>CHROME</div>",
            "<div role='banner'>CHROME</div>",
            "<header><nav>CHROME</nav><h1>CHROME</h1></header>",
            "<div class='cookie-consent'>CHROME</div>",
            "<section id=onetrust-banner-sdk>CHROME</section>",
            "<div role=dialog>CHROME</div>",
            "<ul class='menu'><li><a href=/a>CHROME</a></li><li><a href=/b>CHROME</a></li></ul>",
            "<div class='sidebar'><a href=/a>CHROME</a></div>",
        ],
    )
    def test_what_surrounds_the_content_is_left_out(self, chrome):
        assert text_of(f"{chrome}<p>{PROSE}</p>{chrome}") == PROSE.strip()

    @pytest.mark.parametrize(
        "kept",
        [
            f"<main><p>{PROSE}</p></main>",
            f"<div role=main><p>{PROSE}</p></div>",
            f"<article><p>{PROSE}</p></article>",
        ],
    )
    def test_the_main_part_is_preferred(self, kept):
        assert text_of(f"<div>Something short.</div>{kept}") == PROSE.strip()

    @pytest.mark.parametrize(
        "body",
        [
            f"<main>Loading</main><div>{PROSE * 3}</div>",
            f"<article>Related</article><div>{PROSE * 3}</div>",
            f"<p>Short.</p><footer>{PROSE * 3}</footer>",
            f"<nav><a href=/>Home</a><p>{PROSE * 3}",
            f"<div class=footer>{PROSE * 3}</div>",
            f"<div id=cookie-notice>{PROSE * 3}</div>",
            f"<noscript><p>{PROSE * 3}</p></noscript>",
            f"<div id=app style='display:none'>{PROSE * 3}</div>",
            f"<body hidden><p>{PROSE * 3}",
        ],
    )
    def test_content_in_odd_places_is_never_lost(self, body):
        assert (PROSE * 3).strip() in text_of(body)

    def test_a_page_of_links_keeps_them(self):
        assert text_of("<ul><li><a href=/a>A</a><li><a href=/b>B</a></ul>") == "- [A](/a)\n- [B](/b)"

    def test_a_main_part_inside_an_unclosed_menu_is_the_main_part(self):
        assert text_of(f"<nav><a href=/>Home</a><main><p>{PROSE}</p></main>") == PROSE.strip()

    def test_everything_visible_is_kept_where_there_is_no_site_around(self):
        body = "<header>Head</header><p>Body</p><footer>Foot</footer><p hidden>HIDDEN</p>"
        assert text_of(body, whole=True) == "Head\n\nBody\n\nFoot"


class TestHidden:
    @pytest.mark.parametrize(
        "hidden",
        [
            "<script>HIDDEN</script>",
            "<SCRIPT type=module>if (a < b) HIDDEN </SCRIPT >",
            "<script><!-- document.write('<script>HIDDEN</script>'); HIDDEN --></script>",
            "<script>HIDDEN // </scripted> HIDDEN</script>",
            "<style>HIDDEN</style>",
            "<template><p>HIDDEN</p></template>",
            "<svg><title>HIDDEN</title><text>HIDDEN</text></svg>",
            "<iframe>HIDDEN</iframe>",
            "<select><option>HIDDEN<option>HIDDEN</select>",
            "<p hidden>HIDDEN</p>",
            "<p hidden>HIDDEN<div>shown</div>",
            "<div aria-hidden='true'><div>HIDDEN</div>HIDDEN</div>",
            "<span style='Display : None'>HIDDEN<span>HIDDEN</span>HIDDEN</span>",
            "<p><b style='visibility:hidden'>HIDDEN</p>",
            "<ul><li hidden>HIDDEN<li>item</ul>",
            "<dialog>HIDDEN</dialog>",
            "<!-- HIDDEN -->",
            "<!-- HIDDEN --!>",
            "<!--[if mso]><p>HIDDEN</p><![endif]-->",
            "<?php echo 'HIDDEN' ?>",
            "<!DOCTYPE html [ <!ENTITY x 'HIDDEN'> ]>",
            "<a title='HIDDEN > HIDDEN'>shown</a>",
            "<button>HIDDEN</button>",
            "<textarea>HIDDEN</textarea>",
        ],
    )
    def test_what_nobody_sees_is_left_out(self, hidden):
        text = text_of(f"<p>{PROSE}</p>{hidden}<p>{PROSE}</p>")
        assert "HIDDEN" not in text
        assert text.startswith(PROSE.strip())
        assert text.endswith(PROSE.strip())

    @pytest.mark.parametrize(
        "shown",
        [
            "<div role=tabpanel hidden>SHOWN</div>",
            "<div hidden=until-found>SHOWN</div>",
            "<details><summary>More</summary>SHOWN</details>",
            "<button aria-expanded=false>SHOWN</button>",
            "<template shadowrootmode=open><p>SHOWN</p></template>",
            "<![CDATA[SHOWN]]>",
            "<dialog open>SHOWN</dialog>",
        ],
    )
    def test_what_can_be_unfolded_is_kept(self, shown):
        assert "SHOWN" in text_of(f"<p>{PROSE}</p>{shown}")


class TestInline:
    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("a <b>bold</b>\n and <i>slanted</i>word", "a bold and slantedword"),
            ("tea&nbsp;&amp;&#32;wa&shy;ter &copy &unknown; &#x26;", "tea & water © &unknown; &"),
            ("one<br>two<br/>three", "one\ntwo\nthree"),
            ("one<br><br>two", "one\n\ntwo"),
            (
                "10<sup>6</sup> m<sup>2</sup>, H<sub>2</sub>O, note<sup> see below </sup>",
                "10^6 m^2, H2O, note see below",
            ),
            ("<code>a  b</code> and <tt>c`d</tt>", "`a b` and `` c`d ``"),
            ("he said <q>no</q>", "he said “no”"),
            ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>です", "漢字(かんじ)です"),
            (
                "<math><mi>x</mi><annotation encoding='application/x-tex'>{\\displaystyle x^2}</annotation></math>",
                "$x^2$",
            ),
            ("see <img src=a.png alt='a cup &lt;3'> here<img src=b.png>", "see a cup <3 here"),
            ("a < b > c <3 << d <> </> e", "a < b > c <3 << d <> e"),
            ("<p>one<p>two</p></p>three", "one\n\ntwo\n\nthree"),
            ("in<wbr>divisible", "indivisible"),
        ],
    )
    def test_reads_as_it_is_seen(self, markup, text):
        assert text_of(markup) == text

    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("<a href='https://a.b/c d'> words </a>", "[words](https://a.b/c%20d)"),
            ("(<a href=x.html>words</a>)", "([words](x.html))"),
            ("<a href='?q=1&copy=2'>words</a>", "[words](?q=1&copy=2)"),
            ("<a href='#part'>words</a>", "words"),
            ("<a href='mailto:a@b.c'>a@b.c</a>", "a@b.c"),
            ("<a href='javascript:void(0)'>words</a>", "words"),
            ("<a href='https://a.b/'>https://a.b/</a>", "https://a.b/"),
            (f"<a href='/{'x' * 400}'>words</a>", "words"),
            ("<a href=/a><img alt=Logo></a>", "[Logo](/a)"),
            ("<a href=/a>one<a href=/b>two</a>", "[one](/a)[two](/b)"),
            ("<a href=/a><h2>Card</h2><p>Words</p></a>", "## Card\n\nWords"),
            ("words<a href='#w'>#</a>", "words"),
            ("<a name=x>words</a>", "words"),
            ("<b><a href=/a>one</b> two</a>", "[one two](/a)"),
        ],
    )
    def test_links_keep_their_words_and_real_addresses(self, markup, text):
        assert text_of(markup) == text

    def test_links_to_neighbours_can_be_left_out(self):
        body = "<a href=ch2.xhtml>next</a> <a href=https://a.b>there</a>"
        assert text_of(body, local_links=False) == "next [there](https://a.b)"


class TestHeadings:
    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("<h1><div>One</div><div>title</div></h1>", "# One title"),
            ("<h2>One<br>title</h2>", "## One title"),
            ("<h2><a href=/x>Linked</a> <code>code</code></h2>", "## Linked code"),
            ("<h1>Unclosed<p>Text<p>More", "# Unclosed\n\nText\n\nMore"),
            ("<h1>One<h2>Two</h1>Text", "# One\n\n## Two\n\nText"),
            ("<h3></h3><h4> </h4>Text", "Text"),
            ("<ul><li><h3>Card</h3><p>Words</p><li>item</ul>", "### Card\n\nWords\n\n- item"),
            ("<pre>code<h2>Part</h2>more</pre>", "```\ncode\n```\n\n## Part\n\n```\nmore\n```"),
            ("<h2><button aria-expanded=true>Question</button></h2>", "## Question"),
        ],
    )
    def test_are_lines_of_their_own(self, markup, text):
        assert text_of(markup) == text

    def test_a_heading_that_is_quoted_opens_no_section(self):
        assert blocks_of("<blockquote><h2>Said</h2></blockquote>") == [("paragraph", "> Said")]


class TestLists:
    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("<ul><li>a<li><p>b</p></ul>", "- a\n- b"),
            ("<ol start=9><li>a<li>b<li value=20>c<li>d</ol>", "9. a\n10. b\n20. c\n21. d"),
            ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
            ("<ul><li>a<p>more</p><li>b</ul>", "- a\n\n  more\n- b"),
            ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n- b"),
            ("<ul><li>a<pre>x\n\n  y</pre></ul>", "- a\n\n  ```\n  x\n\n    y\n  ```"),
            ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e<p>f</dl>", "a\n: b\n: c\n\nd\n: e\n\n  f"),
            ("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b"),
            ("<blockquote>a<br>b<p>c<ul><li>d<li>e</ul></blockquote>", "> a\n> b\n\n> c\n> - d\n> - e"),
            ("<li>stray<li>items", "- stray\n- items"),
        ],
    )
    def test_nest_as_in_markdown(self, markup, text):
        assert text_of(markup) == text

    def test_are_one_block_where_no_empty_line_parts_them(self):
        assert blocks_of("<ul><li>a<li>b<ul><li>c</ul></ul>") == [("list", "- a\n- b\n  - c")]


class TestCode:
    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("<pre>\n  a\n\n  b  \n\n</pre>", "```\n  a\n\n  b\n```"),
            ("<pre>a<br>b&lt;c&#13;</pre>", "```\na\nb<c\n```"),
            ("<pre><code class='hljs lang-rust'>a</code></pre>", "```rust\na\n```"),
            ("<div class='highlight-c++ notranslate'><div class=highlight><pre>a</pre></div></div>", "```c++\na\n```"),
            ("<pre>x ``` y</pre>", "````\nx ``` y\n````"),
            ("<pre><span class=linenos>1</span>a\n<span class=linenos>2</span>b</pre>", "```\na\nb\n```"),
            ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
            ("<pre><code>a</code><code>b</code></pre>", "```\na\nb\n```"),
            (
                "<table class=highlighttable><tr><td class=linenos><pre>1</pre><td><pre>a</pre></table>",
                "```\na\n```",
            ),
            ("<pre> </pre>", ""),
            ("<xmp><p>&amp;</xmp>", "```\n<p>&\n```"),
        ],
    )
    def test_is_kept_verbatim(self, markup, text):
        assert text_of(markup) == text


class TestTables:
    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            (
                "<table><caption>Tea</caption><tr><th>a<th>b<tr><td>1<td>2</table>",
                "Tea\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
            ),
            ("<table><tr><td>a<td>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
            (
                "<table><tr><th>a<th colspan=2>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
                "| a | b | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |",
            ),
            (
                "<table><thead><tr><th rowspan=2>a<th colspan=2>b<tr><th>c<th>d<tbody><tr><td>1<td>2<td>3</table>",
                "| a | b c | b d |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
            ),
            ("<table><tr><th>Born<td>1815<tr><th>Died<td>1852</table>", "- Born: 1815\n- Died: 1852"),
            (
                "<table><tr><th>a<th>b<tr><td><ul><li>x<li>y</ul><td><p>p<p>q</table>",
                "| a | b |\n| --- | --- |\n| x; y | p; q |",
            ),
            ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", "a\n\nb\n\nc\n\nd"),
            (
                "<table><tr><td><h2>Menu</h2>a<td><table><tr><th>x<th>y<tr><td>1<td>2</table></table>",
                "## Menu\n\na\n\n| x | y |\n| --- | --- |\n| 1 | 2 |",
            ),
            ("<table><tr><td>alone</table>", "alone"),
            ("<table>stray<tr><td>a<td>b<tr><td>c<td>d</table>", "stray\n\n| a | b |\n| --- | --- |\n| c | d |"),
            (
                "<ul><li>x<table><tr><th>a<th>b<tr><td>1<td>2</table></ul>",
                "- x\n\n  | a | b |\n  | --- | --- |\n  | 1 | 2 |",
            ),
            ("<td>cell without a table<td>another", "cell without a table\n\nanother"),
        ],
    )
    def test_of_data_are_rows_and_of_layout_are_not(self, markup, text):
        assert text_of(markup) == text

    def test_a_long_one_repeats_its_header(self):
        rows = "".join(f"<tr><td>tea number {number}<td>{number}" for number in range(200))
        extracted = read(page(f"<table><tr><th>Name<th>Water{rows}</table>"))
        tables = [extracted.text[block.start : block.end] for block in extracted.blocks]
        assert len(tables) > 5
        assert all(table.startswith("| Name | Water |\n| --- | --- |\n") for table in tables)


class TestEncodings:
    @pytest.mark.parametrize(
        ("head", "encoding"),
        [
            ("<meta charset=shift_jis>", "cp932"),
            ('<meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">', "euc_jp"),
            ("<meta charset='iso-2022-jp'>", "iso2022_jp"),
            ("<meta charset=gb2312>", "gb18030"),
            ("<meta charset=utf-8>", "utf-8"),
            ("", "utf-8"),
            ("", "utf-8-sig"),
            ("<meta charset=utf-8>", "utf-16"),
            ("<meta charset=windows-1252>", "utf-8"),
        ],
    )
    def test_are_found_in_the_mark_the_head_or_the_bytes(self, head, encoding):
        data = page("<p>吾輩は猫である。名前はまだ無い。</p>", head).encode(encoding)
        assert extract(data, "text/html", "a.html").text.strip() == "吾輩は猫である。名前はまだ無い。"

    @pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "latin1", "no-such", "rot13", "utf-7", "utf-8"])
    def test_western_bytes_are_windows_1252_by_whatever_name(self, charset):
        data = page("<p>Tee für „Zoë“ – 5 €</p>", f"<meta charset={charset}>").encode("cp1252")
        assert extract(data, "text/html", "a.html").text.strip() == "Tee für „Zoë“ – 5 €"

    def test_xhtml_declares_its_own(self):
        data = "<?xml version='1.0' encoding='koi8-r'?><html><body>Зелёный чай</body></html>".encode("koi8-r")
        assert extract(data, "application/xhtml+xml", "a.xhtml").text.strip() == "Зелёный чай"

    def test_binary_is_refused(self):
        with pytest.raises(SourceError) as caught:
            extract(b"\x00\x01\x02" * 100, "text/html", "a.html")
        assert caught.value.reason == "binary"


class TestXhtml:
    def test_elements_may_be_complete_by_themselves(self):
        markup = (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/></head>'
            '<body><p>One<a id="x"/> two <i/>three</p><div hidden=""/><p>four</p></body></html>'
        )
        assert read(markup).text.strip() == "One two three\n\nfour"


class TestBrokenMarkup:
    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("<p>one<!-- unclosed<p>two", "onetwo"),
            ('<p>one <a href="x>two</a><p>three', "one two\n\nthree"),
            ("<p>one<title>two<p>three", "onetwo\n\nthree"),
            ("<p>one<style>two", "one"),
            ("one <b", "one <b"),
            ("<div><span>one</div>two</span>", "one\n\ntwo"),
            ("<table><tr><td><b>one</table></b>two", "one\n\ntwo"),
            ("<b><p>one</b>two</p>three", "onetwo\n\nthree"),
            ("</p></div></table></body></html>one", "one"),
            ("<DIV CLASS=X>ONE</DIV\n>two", "ONE\n\ntwo"),
            ("<p\n>one</p\n\n>", "one"),
            ("a\x00b", "a\ufffdb"),
            ("&#0;&#xD800;&#99999999;&#" + "9" * 5000 + ";x", "\ufffd\ufffd\ufffd\ufffdx"),
        ],
    )
    def test_loses_no_text(self, markup, text):
        assert read(markup).text.strip() == text

    @pytest.mark.parametrize(
        "piece", ["<div>", "<table><tr><td>", "<ul><li>", "<blockquote>", "<b><p>", "<span hidden>"]
    )
    def test_100_000_levels_need_no_recursion(self, piece):
        levels = 100_000 if piece == "<div>" else 20_000
        assert read(f"{piece * levels}deep").text.strip(" \n>-") == "deep"

    @pytest.mark.parametrize(
        "piece",
        [
            *("<!--", "<a ", "<a b='", '(b="><a ")', "<title>", "<script><!--<script></script>", "<![CDATA[", "<?"),
            *("<!doctype [", "<", "&", "&#", "<sup>", "<math><annotation encoding=tex>", "<a href=x>y", "</p>", "\x00"),
            *("<main><aside>", "<td rowspan=1000 colspan=1000>x", "<h1>a", "<dl><dt>a<dd>b", "<header><h1>"),
        ],
    )
    def test_is_bounded_whatever_is_repeated(self, piece):
        check(read_html(piece * 5_000))

    def test_the_text_cannot_outgrow_its_source_beyond_bounds(self):
        lines = "<ol start=999999999><li>" * 8 + "<pre>" + "a\n" * 300_000
        extracted = read(lines)
        assert len(extracted.text) <= 20 * len(lines) + 1_100_000
        assert extracted.metadata["truncated"] is True

    def test_a_page_of_nothing_but_tags_comes_to_an_end(self, monkeypatch):
        monkeypatch.setattr("dowse.ingest.extract.hypertext.flow._MOST_TOKENS", 1_000)
        extracted = read("<p>text" * 1_000)
        assert extracted.text.count("text") == 500
        assert extracted.metadata["truncated_reason"] == "a page has more tags than the limit"

    def test_spans_of_tables_are_bounded(self):
        extracted = read("<table>" + "<tr><td rowspan=1000 colspan=1000>abc" * 2_000 + "</table>")
        assert len(extracted.text) < 1_000_000


BLOCK_TAGS = st.sampled_from(["div", "p", "section", "ul", "li", "blockquote", "h2", "td", "dd", "center", "form"])
INLINE_TAGS = st.sampled_from(["b", "i", "span", "em", "font", "u", "label", "x-custom"])
WORD = st.text(string.ascii_lowercase, min_size=1, max_size=6)


@st.composite
def nested(draw, depth=0):
    """Markup and the words in it."""
    markup, words = "", []
    for _ in range(draw(st.integers(0, 3))):
        if depth < 4 and draw(st.booleans()):
            tag = draw(BLOCK_TAGS if draw(st.booleans()) else INLINE_TAGS)
            inner, found = draw(nested(depth + 1))
            markup += f"<{tag}>{inner}</{tag}>" if draw(st.booleans()) else f"<{tag}>{inner}"
            words += found
        else:
            word = draw(WORD)
            markup += f" {word} "
            words.append(word)
    return markup, words


TAGS = st.sampled_from(
    [
        *("<p>", "</p>", "<div>", "</div>", "<div hidden>", "<ul>", "<li>", "</ul>", "<ol start=7>", "</ol>", "<dl>"),
        *("<dt>", "<dd>", "</dl>", "<table>", "<tr>", "<td>", "<th colspan=3>", "<td rowspan=2>", "</table>"),
        *("<thead>", "<tbody>", "<caption>", "<h1>", "</h1>", "<h6>", "<pre>", "</pre>", "<code>", "</code>"),
        *("<a href=/x>", "</a>", "<br>", "<hr>", "<img alt='a|b'>", "<blockquote>", "</blockquote>", "<main>"),
        *("</main>", "<nav>", "</nav>", "<article>", "<header>", "</header>", "<footer>", "<aside>", "</aside>"),
        *("<svg>", "</svg>", "<math>", "</math>", "<ruby>", "<rt>", "</ruby>", "<sup>", "</sup>", "<q>", "</q>"),
        *("</title>", "<noscript>", "</noscript>", "<template>", "</template>", "<span>", "</span>", "<b>", "</b>"),
        *("<script>EVIL</script>", "<style>EVIL</style>", "<!-- EVIL -->", "&amp;", "&", "&#13;", "&#10;"),
        *("\r\n", "\n\n", "\t", "\x00", "\x0c", "\u2028", "\xa0", "`", "```", "|", "#", "- ", "> ", "1. "),
        *("words ", "漢字"),
    ]
)
FRAGMENTS = st.sampled_from(
    ["<title>", "<xmp>", "</xmp>", "<textarea>", "<p", "<", "</", ">", '"', "'", "=", "<!", "--"]
)


class TestAnyMarkup:
    @unhurried
    @given(made=nested())
    def test_keeps_every_visible_word_in_order(self, made):
        markup, words = made
        text = read(markup, whole=True).text
        found = "".join(character for character in text if character in string.ascii_lowercase)
        assert found == "".join(words)

    @unhurried
    @given(pieces=st.lists(TAGS, max_size=60), whole=st.booleans())
    def test_shows_no_script(self, pieces, whole):
        assert "EVIL" not in read("".join(pieces), whole=whole).text

    @unhurried
    @given(pieces=st.lists(TAGS | FRAGMENTS, max_size=60))
    def test_gives_valid_blocks(self, pieces):
        chunk(read("".join(pieces)), WORDS, Chunking(16, min_tokens=0))

    @unhurried
    @given(markup=st.text(max_size=200))
    def test_never_fails(self, markup):
        read(markup)
        assert list(tokens(markup, xml=True)) is not None

    @unhurried
    @given(position=st.integers(0, len(PAGE)), garbage=st.binary(max_size=8), length=st.integers(0, 40))
    def test_bytes_may_be_damaged_anywhere(self, position, garbage, length):
        data = PAGE.encode()
        read_or_refuse(data[:position] + garbage + data[position + length :], "text/html")

    def test_pages_may_be_cut_anywhere(self):
        data = PAGE.encode()
        for part in range(50):
            read_or_refuse(data[: len(data) * part // 50], "text/html")
