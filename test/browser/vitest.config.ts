import { join } from "node:path";
import { defineConfig, mergeConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

export default mergeConfig(
  { ...shared, test: { ...shared.test, projects: undefined } },
  defineConfig({
    root: join(import.meta.dirname, "../.."),
    test: {
      include: ["test/browser/**/*.test.ts"],
      exclude: ["**/node_modules/**"],
      globalSetup: ["test/browser/support/share-browser.ts"],
    },
  }),
);
