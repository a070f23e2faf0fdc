import { join, resolve } from "node:path";
import { defineConfig } from "vite";

/** Builds the portal's browser app. File names contain a hash of their content, so browsers may cache the files without a limit. */
export default defineConfig({
  root: join(import.meta.dirname, "src/portal"),
  base: "/portal/",
  oxc: { jsx: { runtime: "automatic" } },
  build: {
    target: "es2023",
    outDir: resolve(import.meta.dirname, process.env["BUNDLE_DIR"] ?? ".dist", "portal"),
    emptyOutDir: true,
    assetsDir: "assets",
    // Inlined files are data: URLs, which the content security policy refuses in scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    // KB before compression. test/portal-size.test.ts checks the compressed size.
    chunkSizeWarningLimit: 800,
  },
  logLevel: "warn",
});
