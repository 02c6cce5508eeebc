"""Programming languages as a table: which grammar parses each, and what its kinds of nodes mean to us.

A new language is a row. A kind of node that is not listed is a plain statement. Grammars come as separate
packages with the parser inside the wheel; a language whose package is missing is read line by line.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from dowse.records import record

__all__ = ["LANGUAGES", "Language", "Role"]


class Role(NamedTuple):
    """What a kind of node is to us."""

    kind: Literal["function", "class", "open", "wrap", "lead", "bind"]
    """`open` is looked into, `wrap` too and belongs to the definition in it, `lead` belongs to the definition below
    it, `bind` gives a name to a value."""
    name: str = "name"
    """The rule that finds its name, see `names.py`: mostly the grammar's own field."""
    needs_body: bool = False
    """Without one it only declares, and is a plain statement."""
    value: str = ""
    """The field of the value or type that is given a name."""


_FUNCTION = Role("function")
_METHOD = Role("function", needs_body=True)
_CLASS = Role("class")
_OPEN = Role("open")
_WRAP = Role("wrap")
_LEAD = Role("lead")


@record
class Language:
    """One row of the table."""

    name: str
    package: str = ""
    """The module of the grammar; empty for a language that is always read line by line."""
    entry: str = "language"
    """The module's function that returns the grammar."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    values: Mapping[str, Role] = field(default_factory=dict)
    """What a value makes of the name that is bound to it."""
    docstring: tuple[str, str] = ("", "")
    """The kind of statement, and of its only child, that describes the definition whose body it opens."""
    tolerance: float = 0.1
    """The share of a text that may lie in errors: with more of them, its indents tell more than its tree. Measured
    on broken files; a grammar that knows one dialect of many is given up at once."""
    unless: tuple[str, re.Pattern[str], str] | None = None
    """The suffix that it shares with another language, what shows that it is that one, and its name."""


def _kinds(role: Role, kinds: str) -> dict[str, Role]:
    return dict.fromkeys(kinds.split(), role)


_C_ROLES = {
    **_kinds(Role("function", "declarator", needs_body=True), "function_definition"),
    **_kinds(Role("class", needs_body=True), "struct_specifier union_specifier enum_specifier"),
    **_kinds(Role("class", "typedef", needs_body=True, value="type"), "type_definition"),
    **_kinds(_OPEN, "preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification declaration_list"),
    **_kinds(_OPEN, "declaration field_declaration"),
    **_kinds(_LEAD, "comment"),
}
_CPP_ROLES = {
    **_C_ROLES,
    **_kinds(Role("class", needs_body=True), "class_specifier"),
    **_kinds(_OPEN, "namespace_definition field_declaration_list"),
    **_kinds(_WRAP, "template_declaration"),
    **_kinds(_LEAD, "access_specifier"),
}
_CPP_LINES = re.compile(
    r"^[ \t]*+(?:class[ \t]++\w[^;\n]*+$|namespace\b[^;\n]*+\{|template[ \t]*+<|using[ \t]++[\w:]++[^;\n]*+;"
    r"|(?:public|private|protected)[ \t]*+:)",
    re.MULTILINE,
)
_ECMASCRIPT_ROLES = {
    **_kinds(_METHOD, "function_declaration generator_function_declaration method_definition"),
    **_kinds(_CLASS, "class_declaration"),
    **_kinds(Role("bind", "name", value="value"), "variable_declarator"),
    **_kinds(Role("bind", "key", value="value"), "pair"),
    **_kinds(Role("bind", "left", value="right"), "assignment_expression"),
    # Callbacks and functions that are called at once have no name to give: what is defined in them counts.
    **_kinds(
        _OPEN,
        "class_body statement_block expression_statement lexical_declaration variable_declaration call_expression "
        "arguments arrow_function function_expression parenthesized_expression unary_expression sequence_expression "
        "object if_statement else_clause try_statement",
    ),
    **_kinds(_WRAP, "export_statement"),
    **_kinds(_LEAD, "comment decorator"),
}
_JAVASCRIPT_ROLES = {
    **_ECMASCRIPT_ROLES,
    **_kinds(Role("bind", "property", value="value"), "field_definition"),
}
_TYPESCRIPT_ROLES = {
    **_ECMASCRIPT_ROLES,
    **_kinds(_CLASS, "abstract_class_declaration interface_declaration enum_declaration"),
    **_kinds(Role("bind", "name", value="value"), "public_field_definition"),
    **_kinds(_OPEN, "internal_module module ambient_declaration"),
}
_ECMASCRIPT_VALUES = {
    **_kinds(_FUNCTION, "arrow_function function_expression generator_function"),
    **_kinds(_CLASS, "class"),
}

_TABLE = (
    Language(
        "python",
        "tree_sitter_python",
        roles={
            **_kinds(_FUNCTION, "function_definition"),
            **_kinds(_CLASS, "class_definition"),
            **_kinds(_OPEN, "block if_statement elif_clause else_clause try_statement except_clause finally_clause"),
            **_kinds(_OPEN, "with_statement"),
            **_kinds(_WRAP, "decorated_definition"),
            **_kinds(_LEAD, "comment decorator"),
        },
        docstring=("expression_statement", "string"),
    ),
    Language(
        "rust",
        "tree_sitter_rust",
        roles={
            **_kinds(_FUNCTION, "function_item macro_definition"),
            **_kinds(_CLASS, "struct_item enum_item union_item trait_item"),
            **_kinds(Role("class", "type"), "impl_item"),
            **_kinds(_OPEN, "mod_item declaration_list foreign_mod_item"),
            **_kinds(_LEAD, "line_comment block_comment attribute_item"),
        },
    ),
    Language("typescript", "tree_sitter_typescript", "language_typescript", _TYPESCRIPT_ROLES, _ECMASCRIPT_VALUES),
    Language("tsx", "tree_sitter_typescript", "language_tsx", _TYPESCRIPT_ROLES, _ECMASCRIPT_VALUES),
    Language("javascript", "tree_sitter_javascript", roles=_JAVASCRIPT_ROLES, values=_ECMASCRIPT_VALUES),
    Language(
        "go",
        "tree_sitter_go",
        roles={
            **_kinds(_METHOD, "function_declaration"),
            **_kinds(Role("function", "receiver", needs_body=True), "method_declaration"),
            **_kinds(_CLASS, "type_spec type_alias"),
            **_kinds(_OPEN, "type_declaration"),
            **_kinds(_LEAD, "comment"),
        },
    ),
    Language(
        "java",
        "tree_sitter_java",
        roles={
            **_kinds(_METHOD, "method_declaration constructor_declaration compact_constructor_declaration"),
            **_kinds(_CLASS, "class_declaration interface_declaration enum_declaration record_declaration"),
            **_kinds(_CLASS, "annotation_type_declaration"),
            **_kinds(_OPEN, "class_body interface_body enum_body enum_body_declarations annotation_type_body"),
            **_kinds(_LEAD, "line_comment block_comment"),
        },
    ),
    Language(
        "c",
        "tree_sitter_c",
        roles=_C_ROLES,
        tolerance=1.0,
        unless=(".h", _CPP_LINES, "cpp"),
    ),
    Language("cpp", "tree_sitter_cpp", roles=_CPP_ROLES, tolerance=0.5),
    Language(
        "csharp",
        "tree_sitter_c_sharp",
        roles={
            **_kinds(_METHOD, "method_declaration constructor_declaration destructor_declaration"),
            **_kinds(_METHOD, "local_function_statement"),
            **_kinds(Role("function", "=operator", needs_body=True), "operator_declaration"),
            **_kinds(Role("function", "=operator", needs_body=True), "conversion_operator_declaration"),
            **_kinds(_CLASS, "class_declaration interface_declaration struct_declaration enum_declaration"),
            **_kinds(_CLASS, "record_declaration"),
            **_kinds(_OPEN, "namespace_declaration file_scoped_namespace_declaration declaration_list"),
            **_kinds(_OPEN, "global_statement preproc_if preproc_elif preproc_else"),
            **_kinds(_LEAD, "comment"),
        },
    ),
    Language(
        "ruby",
        "tree_sitter_ruby",
        roles={
            **_kinds(_FUNCTION, "method singleton_method"),
            **_kinds(_CLASS, "class module"),
            **_kinds(_OPEN, "body_statement singleton_class call do_block block block_body argument_list assignment"),
            **_kinds(_OPEN, "if unless then else begin"),
            **_kinds(_LEAD, "comment"),
        },
    ),
    Language(
        "php",
        "tree_sitter_php",
        "language_php",
        roles={
            **_kinds(_METHOD, "function_definition method_declaration"),
            **_kinds(_CLASS, "class_declaration interface_declaration trait_declaration enum_declaration"),
            **_kinds(Role("bind", "left", value="right"), "assignment_expression"),
            **_kinds(_OPEN, "namespace_definition compound_statement declaration_list enum_declaration_list"),
            **_kinds(_OPEN, "if_statement else_clause expression_statement"),
            **_kinds(_LEAD, "comment"),
        },
        values=_kinds(_FUNCTION, "anonymous_function arrow_function"),
    ),
    Language(
        "kotlin",
        "tree_sitter_kotlin",
        roles={
            **_kinds(_METHOD, "function_declaration"),
            **_kinds(Role("function", "=constructor"), "secondary_constructor"),
            **_kinds(_CLASS, "class_declaration object_declaration companion_object"),
            **_kinds(_OPEN, "class_body enum_class_body"),
            **_kinds(_LEAD, "line_comment block_comment"),
        },
    ),
    Language(
        "swift",
        "tree_sitter_swift",
        roles={
            **_kinds(_METHOD, "function_declaration"),
            **_kinds(Role("function", "=init"), "init_declaration"),
            **_kinds(Role("function", "=deinit"), "deinit_declaration"),
            **_kinds(Role("function", "=subscript"), "subscript_declaration"),
            **_kinds(_CLASS, "class_declaration protocol_declaration"),
            **_kinds(_OPEN, "class_body enum_class_body protocol_body"),
            **_kinds(_LEAD, "comment multiline_comment"),
        },
    ),
    Language(
        "shell",
        "tree_sitter_bash",
        roles={
            **_kinds(_FUNCTION, "function_definition"),
            **_kinds(_OPEN, "if_statement elif_clause else_clause list"),
            **_kinds(_LEAD, "comment"),
        },
    ),
    Language(
        "sql",
        "tree_sitter_sql",
        roles={
            **_kinds(Role("function", "object_reference"), "create_function create_trigger"),
            **_kinds(
                Role("class", "object_reference"), "create_table create_view create_materialized_view create_type"
            ),
            **_kinds(_OPEN, "statement transaction"),
            **_kinds(_LEAD, "comment marginalia"),
        },
        tolerance=0.0,
    ),
    Language("makefile"),
    Language("dockerfile"),
)

LANGUAGES: Mapping[str, Language] = {language.name: language for language in _TABLE}
