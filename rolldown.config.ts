import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type ChunkingContext, type CodeSplittingGroup } from "rolldown";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/** The code for the first request of an editor, and the entries for browsers. */
const EDITOR = ["src/cli/acp/run-acp-command.ts"];
const BROWSER = ["src/wire/index.ts", "src/host/index.ts", "src/host/testing.ts"];

/** Groups the modules which every loader imports, without the modules of earlier groups. */
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
 * Builds one file per entry, and chunks shared by entries. Node takes almost a millisecond per module, so importing the
 * codecs as separate files would take 70 ms.
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
    // Without groups, the codecs would be fifteen files, and an editor would start 30 ms later: the groups leave three
    // small files for its first request.
    codeSplitting: {
      groups: [
        { name: "version", test: /package-version\.ts$/ },
        loadedByAll("first-words", EDITOR, BROWSER),
        // Pure helpers have a file apart from the editor's: browsers load the helpers, and cannot load the modules of Node.
        { name: "helpers", test: /src[\\/](?:data|text)[\\/]/ },
        loadedByAll("editor", EDITOR),
        { name: "words", test: /src[\\/](?:domain|wire[\\/]framing)[\\/]/ },
        { name: "codecs", test: /src[\\/]wire[\\/](?!acp|jsonrpc)/ },
      ],
    },
  },
});
