"""A small real file of each programming language, and the units that it has: (class, function), in order."""

from typing import NamedTuple


class Sample(NamedTuple):
    media_type: str
    language: str
    source: str
    units: list[tuple[str, str]]


PYTHON = '''\
"""Accounts."""

import os
from decimal import Decimal

LIMIT = Decimal(100)


# Opens the vault.
@audited(level=2)
async def open_vault(key):
    """Open it."""

    def inner():
        return key

    return inner()


class Account(Base):
    """Money of one owner."""

    currency = "EUR"

    # Adds money.
    @property
    def deposit(self, amount):
        """Put it in."""
        return amount

    class History:
        def entries(self):
            return []


if os.name == "nt":

    def lock():
        return 1

else:

    def lock():
        return 2


main = lock
'''
RUST = """\
//! Accounts.
use std::fmt;

/// Money of one owner.
#[derive(Debug)]
pub struct Account<T> {
    amount: T,
}

impl<T> fmt::Display for Account<T> {
    /// Shows it.
    #[inline]
    fn fmt(&self) -> u32 {
        1
    }
}

pub trait Ledger {
    fn write(&self);
}

mod tests {
    fn checks() {
        assert!(true);
    }
}

pub async fn open_vault() -> u32 {
    2
}
"""
TYPESCRIPT = """\
import { Base } from './base';

/** Money of one owner. */
@Entity({ name: 'account' })
export class Account<T> extends Base {
  private amount = 0;

  @audited()
  async deposit(amount: number): Promise<void> {
    this.amount += amount;
  }

  close = () => {
    this.amount = 0;
  };
}

interface Ledger {
  write(line: string): void;
}

export const openVault = async (key: string) => {
  return key;
};

namespace Vaults {
  export function count() {
    return 1;
  }
}

export default function main(): void {
  openVault('k');
}
"""
TSX = """\
import React from 'react';

export function Badge(props: { name: string }) {
  return <b className="badge">{props.name}</b>;
}

const List = () => (
  <ul>
    <Badge name="one" />
  </ul>
);
"""
JAVASCRIPT = """\
'use strict';

const fs = require('fs');

(function () {
  // Opens the vault.
  function openVault(key) {
    return key;
  }

  class Account {
    #amount = 0;

    deposit(amount) {
      this.#amount += amount;
    }
  }

  module.exports.open = function (key) {
    return openVault(key);
  };

  Account.prototype.close = function () {
    return 0;
  };
})();
"""
GO = """\
package vault

import "fmt"

// Account is money of one owner.
type Account struct {
\tamount int
}

// Deposit adds money.
func (a *Account) Deposit(amount int) error {
\ta.amount += amount
\treturn nil
}

func Open(key string) *Account {
\treturn &Account{}
}

const limit = 100
"""
JAVA = """\
package vault;

import java.util.List;

/** Money of one owner. */
@Entity
public class Account<T> extends Base {
    private int amount;

    public Account(int amount) {
        this.amount = amount;
    }

    /** Adds money. */
    @Override
    public void deposit(int more) {
        amount += more;
    }

    interface Ledger {
        void write(String line);
    }
}
"""
C = """\
#include <stdio.h>

#define LIMIT 100

struct account {
    int amount;
};

int declared(void);

/* Adds money. */
static int
deposit(struct account *self, int more)
{
    self->amount += more;
    return 0;
}

int *find(int key) {
    return 0;
}
"""
CPP = """\
#include <vector>

namespace vault {

// Money of one owner.
template <typename T>
class Account : public Base {
public:
    int amount() const {
        return amount_;
    }

private:
    int amount_;
};

void Ledger::write(int line) {
    lines_.push_back(line);
}

}  // namespace vault
"""
CSHARP = """\
using System;

namespace Vault
{
    /// <summary>Money of one owner.</summary>
    [Serializable]
    public class Account : Base
    {
        private int amount;

        public Account(int amount)
        {
            this.amount = amount;
        }

        public override string ToString()
        {
            return "account";
        }
    }
}
"""
RUBY = """\
require 'json'

module Vault
  # Money of one owner.
  class Account < Base
    attr_reader :amount

    # Adds money.
    def deposit(more)
      @amount += more
    end

    def self.open?(key)
      true
    end
  end
end

def main
  Vault::Account.open?(1)
end
"""
PHP = """\
<?php
namespace Vault;

use Base;

/** Money of one owner. */
final class Account extends Base
{
    private int $amount = 0;

    public function deposit(int $more): void
    {
        $this->amount += $more;
    }
}

function open_vault(string $key): string
{
    return $key;
}
"""
KOTLIN = """\
package vault

import java.util.Date

/** Money of one owner. */
data class Account(val owner: String) : Base() {
    var amount = 0

    fun deposit(more: Int): Int {
        amount += more
        return amount
    }
}

object Vaults {
    fun count(): Int {
        return 1
    }
}

fun openVault(key: String): String {
    return key
}
"""
SWIFT = """\
import Foundation

/// Money of one owner.
public final class Account: Base {
    var amount = 0

    init(amount: Int) {
        self.amount = amount
    }

    /// Adds money.
    func deposit(_ more: Int) -> Int {
        amount += more
        return amount
    }
}

extension Account {
    func close() {
        amount = 0
    }
}

func openVault(key: String) -> String {
    return key
}
"""
SHELL = """\
#!/bin/bash
set -eu

# Opens the vault.
open_vault() {
    local key="$1"
    echo "$key"
}

function close_vault {
    echo closed
}

open_vault 1
"""
SQL = """\
-- Money of one owner.
CREATE TABLE bank.account (
    id integer PRIMARY KEY,
    amount numeric
);

INSERT INTO bank.account VALUES (1, 2);

CREATE FUNCTION deposit(more integer) RETURNS integer AS $$
BEGIN
    RETURN more;
END;
$$ LANGUAGE plpgsql;
"""
MAKEFILE = """\
PYTHON ?= python

test: build
\t$(PYTHON) -m pytest

build:
\t$(PYTHON) -m build
"""
DOCKERFILE = """\
FROM python:3.12

RUN pip install dowse
"""

SAMPLES = [
    Sample(
        "text/x-python",
        "python",
        PYTHON,
        [
            *(("", ""), ("", "open_vault"), ("Account", ""), ("Account", "deposit"), ("Account.History", "")),
            *(("Account.History", "entries"), ("", ""), ("", "lock"), ("", ""), ("", "lock"), ("", "")),
        ],
    ),
    Sample(
        "text/x-rust",
        "rust",
        RUST,
        [("", ""), ("Account", ""), ("Account", "fmt"), ("Ledger", ""), ("", ""), ("", "checks"), ("", "open_vault")],
    ),
    Sample(
        "text/typescript",
        "typescript",
        TYPESCRIPT,
        [
            *(("", ""), ("Account", ""), ("Account", "deposit"), ("Account", "close"), ("Ledger", "")),
            *(("", "openVault"), ("", ""), ("", "count"), ("", "main")),
        ],
    ),
    Sample("text/tsx", "tsx", TSX, [("", ""), ("", "Badge"), ("", "List")]),
    Sample(
        "text/javascript",
        "javascript",
        JAVASCRIPT,
        [("", ""), ("", "openVault"), ("Account", ""), ("Account", "deposit"), ("", "open"), ("Account", "close")],
    ),
    Sample("text/x-go", "go", GO, [("", ""), ("Account", ""), ("Account", "Deposit"), ("", "Open"), ("", "")]),
    Sample(
        "text/x-java",
        "java",
        JAVA,
        [("", ""), ("Account", ""), ("Account", "Account"), ("Account", "deposit"), ("Account.Ledger", "")],
    ),
    Sample("text/x-c", "c", C, [("", ""), ("account", ""), ("", ""), ("", "deposit"), ("", "find")]),
    Sample(
        "text/x-c++",
        "cpp",
        CPP,
        [("", ""), ("Account", ""), ("Account", "amount"), ("Account", ""), ("Ledger", "write")],
    ),
    Sample(
        "text/x-csharp",
        "csharp",
        CSHARP,
        [("", ""), ("Account", ""), ("Account", "Account"), ("Account", "ToString")],
    ),
    Sample(
        "text/x-ruby",
        "ruby",
        RUBY,
        [
            ("", ""),
            ("Vault", ""),
            ("Vault.Account", ""),
            ("Vault.Account", "deposit"),
            ("Vault.Account", "open?"),
            ("", "main"),
        ],
    ),
    Sample("text/x-php", "php", PHP, [("", ""), ("Account", ""), ("Account", "deposit"), ("", "open_vault")]),
    Sample(
        "text/x-kotlin",
        "kotlin",
        KOTLIN,
        [("", ""), ("Account", ""), ("Account", "deposit"), ("Vaults", ""), ("Vaults", "count"), ("", "openVault")],
    ),
    Sample(
        "text/x-swift",
        "swift",
        SWIFT,
        [
            *(("", ""), ("Account", ""), ("Account", "init"), ("Account", "deposit"), ("Account", "")),
            *(("Account", "close"), ("", "openVault")),
        ],
    ),
    Sample("text/x-shellscript", "shell", SHELL, [("", ""), ("", "open_vault"), ("", "close_vault"), ("", "")]),
    Sample("application/sql", "sql", SQL, [("bank.account", ""), ("", ""), ("", "deposit")]),
    Sample("text/x-makefile", "makefile", MAKEFILE, [("", "")]),
    Sample("text/x-dockerfile", "dockerfile", DOCKERFILE, [("", "")]),
]
