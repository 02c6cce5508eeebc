"""LaTeX keeps its text; sections, verbatim text, tables, title and authors are found outside comments."""

import pytest
from hypothesis import given, settings

from dowse.ingest.chunk import chunk
from dowse.ingest.extract import Extracted, extract
from dowse.text.tokens import TokenCounter
from dowse.types import Chunking
from ingest.extract.checking import check, read_or_refuse
from ingest.extract.damaging import mutated, survives_being_cut_off

LATEX = "application/x-tex"
DOCUMENT = r"""% An example
\documentclass{article}
\newcommand{\remark}{\section{Not a section}}
% \title{Not the title}
\title[Short]{On the \emph{Gr\"{o}{\ss}e} of 50\% \thanks{Funded.}\\ of $x^2$}
\author{Jane D\'oe \\ University \and Bob~Lee\thanks{Present address}}
\date{May 2024}
\keywords{search, index}
\begin{document}
\maketitle

\begin{abstract}
We show that.
\end{abstract}

\section*{Introduction}\label{sec:intro}
Text % \section{In a comment}
more text.
% \section{Commented out}

\begin{verbatim}
\section{Shown}

as it is
\end{verbatim}

\clearpage \subsection[Short]{A long
  title with \texttt{code}} \label{sec:long}
\begin{itemize}
\item one
\item two
\end{itemize}

\begin{table}
\begin{tabular}{ll}
a & b \\

c & d
\end{tabular}
\end{table}

\begin{align}
x &= y
\end{align}

\paragraph{Run in.} Text on the same line
goes on.
\begin{thebibliography}{9}
\bibitem{a} A book.
\end{thebibliography}
\end{document}
"""


def latex(text: str) -> Extracted:
    return check(extract(text.encode(), LATEX, "paper.tex"))


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.label) for block in latex(text).blocks if block.kind == "heading"]


class TestADocument:
    def test_its_text_is_the_file(self):
        assert latex(DOCUMENT).text == DOCUMENT

    def test_sections_are_found_outside_comments_macros_and_verbatim_text(self):
        assert headings(DOCUMENT) == [
            (1, "Abstract"),
            (1, "Introduction"),
            (2, "A long title with code"),
            (4, "Run in."),
            (1, "References"),
        ]

    def test_title_authors_and_date_are_read_as_words(self):
        extracted = latex(DOCUMENT)
        assert extracted.title == "On the Größe of 50% of $x^2$"
        assert extracted.metadata == {
            "title": "On the Größe of 50% of $x^2$",
            "author": ["Jane Dóe", "Bob Lee"],
            "date": "May 2024",
            "keywords": ["search", "index"],
        }

    def test_code_tables_lists_and_the_preamble_are_blocks_of_their_kind(self):
        extracted = latex(DOCUMENT)
        found = [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]
        by_kind = {kind: text for kind, text in found if kind not in {"heading", "paragraph"}}
        assert by_kind["front matter"].startswith("% An example")
        assert by_kind["front matter"].endswith("\\maketitle")
        assert by_kind["code"] == "\\begin{verbatim}\n\\section{Shown}\n\nas it is\n\\end{verbatim}"
        assert by_kind["table"].startswith("\\begin{table}")
        assert by_kind["table"].endswith("\\end{table}")
        assert by_kind["list"].startswith("\\begin{itemize}")
        assert ("paragraph", "\\begin{align}\nx &= y\n\\end{align}") in found

    def test_chunks_are_cited_by_their_lines_and_headings(self):
        chunks = chunk(latex(DOCUMENT), TokenCounter(None), Chunking(max_tokens=60, min_tokens=4))
        last = chunks[-2]
        assert last.headings == ("Introduction", "A long title with code", "Run in.")
        assert DOCUMENT.split("\n")[last.first_line - 1].startswith("\\paragraph{Run in.}")
        assert last.text.endswith("goes on.")


class TestHeadings:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("\\chapter{A}\n\\section{B}\n", [(1, "A"), (2, "B")]),
            ("\\part{A}\n\\subparagraph{B}\n", [(1, "A"), (6, "B")]),
            ("  \\subsection{Only}\n", [(1, "Only")]),
            ("\\section{Braces {in} \\{braces\\} \\& more}\n", [(1, "Braces in braces & more")]),
            ("\\section{\\texorpdfstring{$H_2$}{H2} --- \\cite{x}``so''\\footnote{no}}\n", [(1, 'H2 \u2014 "so"')]),
            ("\\section{\\c{C}e\\v{s}ky \\`a \\~n \\o}\n", [(1, "Çešky à ñ ø")]),
            ("\\begin{frame}[fragile]{Slide}\n\\end{frame}\n\\frametitle{Other}\n", [(1, "Slide"), (1, "Other")]),
            ("\\section{}\n", [(1, "")]),
        ],
    )
    def test_headings_are_found_and_read_as_words(self, text, found):
        assert headings(text) == found

    @pytest.mark.parametrize(
        "text",
        [
            "% \\section{a}\n",
            "\\renewcommand{\\section}{x}\n",
            "see \\section{a}\n",
            "\\section{never closed\n",
            "\\sectionmark{a}\n",
            "\\begin{comment}\n\\section{a}\n\\end{comment}\n",
            "\\begin{lstlisting}[language=C]\n\\section{a}\n\\end{lstlisting}\n",
        ],
    )
    def test_what_only_looks_like_a_heading_is_none(self, text):
        assert headings(text) == []

    def test_the_first_heading_is_the_title_where_no_command_gives_one(self):
        assert latex("\\section{First}\n").title == "First"
        assert latex("text\n").title is None

    def test_each_author_command_counts_and_today_is_no_date(self):
        found = latex("\\author[1]{A. One}\n\\author[2]{B. Two}\n\\date{\\today}\n").metadata
        assert found == {"author": ["A. One", "B. Two"]}


class TestDamage:
    @settings(deadline=None, max_examples=60)
    @given(data=mutated(DOCUMENT.encode(), (b"\\section{", b"{", b"}", b"%", b"\\", b"\\begin{table}", b"[", b"$")))
    def test_any_change_leaves_a_valid_result_or_a_refusal(self, data):
        read_or_refuse(data, LATEX)

    def test_being_cut_off_anywhere_is_survived(self):
        survives_being_cut_off(DOCUMENT.encode(), LATEX)

    @pytest.mark.parametrize(
        "part",
        ["\\section{", "\\section{\n", "\\section[\n", "\\begin{table}\n", "\\title{", "%\\title{\n", "\\clearpage"],
    )
    def test_many_beginnings_without_an_end_do_not_hang(self, part):
        latex(part * 20_000)

    def test_nothing_gives_nothing(self):
        assert latex("").blocks == latex(" \n\t\n").blocks == ()
