import { join } from "node:path";
import { defineConfig } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** The folder with the declarations of `tsc`, a file per source file (see the script `bundle`). */
const declarations = join(import.meta.dirname, `${process.env["BUNDLE_DIR"] ?? ".dist"}-types`);

const ENTRIES = [
  "index",
  "wire/index",
  "providers/index",
  "aigo/index",
  "emulator/index",
  "host/index",
  "host/testing",
];

/** Builds a declaration file per entry, and shared files in `types`: an editor reads 16 files instead of 1,200. */
export default defineConfig({
  input: Object.fromEntries(ENTRIES.map((name) => [name, join(declarations, `${name}.d.ts`)])),
  external: [/^[^./]/],
  checks: { pluginTimings: false },
  plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
  output: { dir: ".dist", format: "esm", chunkFileNames: "types/[name].js" },
});
