#!/bin/sh
tea() {
  cat <<EOF
hot
EOF
}
