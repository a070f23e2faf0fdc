import { readFileSync } from "node:fs";
import { defineConfig } from "rolldown";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/**
 * One file per entry and shared chunks between them. Node takes most of a millisecond for every module it loads: as
 * separate files the codecs would take 70 ms to import.
 */
export default defineConfig({
  input: {
    index: "src/index.ts",
    "wire/index": "src/wire/index.ts",
    "providers/index": "src/providers/index.ts",
    "aigo/index": "src/aigo/index.ts",
    "emulator/index": "src/emulator/index.ts",
    "cli/main": "src/cli/main.ts",
  },
  platform: "node",
  external: [/^node:/, ...Object.keys(dependencies).map((name) => new RegExp(`^${name}(?:/|$)`))],
  output: {
    dir: "dist",
    format: "esm",
    sourcemap: true,
    chunkFileNames: "chunks/[name]-[hash].js",
    // In pieces shared by some entries and not by others, the codecs would be fifteen files. An editor's agent needs the
    // words alone: with the codecs it would start 20 ms later.
    codeSplitting: {
      groups: [
        { name: "words", test: /src[\\/](?:domain|wire[\\/]framing)[\\/]/ },
        { name: "codecs", test: /src[\\/]wire[\\/](?!acp|jsonrpc)/ },
      ],
    },
  },
});
