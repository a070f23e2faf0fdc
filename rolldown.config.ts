import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type ChunkingContext, type CodeSplittingGroup } from "rolldown";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/** What answers an editor's first request, and the entries that browsers load too. */
const EDITOR = ["src/cli/acp/run-acp-command.ts"];
const BROWSER = ["src/wire/index.ts", "src/host/index.ts", "src/host/testing.ts"];

/** A file for what all of these load; what an earlier group has stays there. */
function loadedByAll(name: string, ...loaders: (readonly string[])[]): CodeSplittingGroup {
  return {
    name: (id, modules) =>
      loaders.every((entries) => loadedWith(entries, modules).has(id)) ? name : null,
    debugName: name,
    test: /\.ts$/,
  };
}

function loadedWith(entries: readonly string[], modules: ChunkingContext): Set<string> {
  const loaded = new Set(entries.map((path) => join(import.meta.dirname, path)));
  for (const id of loaded) {
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) loaded.add(imported);
  }
  return loaded;
}

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
    "host/index": "src/host/index.ts",
    "host/testing": "src/host/testing.ts",
    "cli/main": "src/cli/main.ts",
  },
  platform: "node",
  external: [/^node:/, ...Object.keys(dependencies).map((name) => new RegExp(`^${name}(?:/|$)`))],
  output: {
    dir: ".dist",
    format: "esm",
    sourcemap: true,
    chunkFileNames: "chunks/[name]-[hash].js",
    // In pieces shared by some entries and not by others, the codecs would be fifteen files. What an editor waits for is
    // three small ones: with what else there is it would start 30 ms later.
    codeSplitting: {
      groups: [
        { name: "version", test: /package-version\.ts$/ },
        loadedByAll("first-words", EDITOR, BROWSER),
        // Pure helpers, apart from the editor's file: browser entries load them too, and must not load Node's modules.
        { name: "helpers", test: /src[\\/](?:data|text)[\\/]/ },
        loadedByAll("editor", EDITOR),
        { name: "words", test: /src[\\/](?:domain|wire[\\/]framing)[\\/]/ },
        { name: "codecs", test: /src[\\/]wire[\\/](?!acp|jsonrpc)/ },
      ],
    },
  },
});
