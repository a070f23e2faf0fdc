import { join } from "node:path";
import { defineConfig, mergeConfig, type Plugin } from "vitest/config";
import shared from "../../vitest.config.ts";

/** Runs the tests of openai 6, which `npm test` runs, with openai 7. */
const openai7: Plugin = {
  name: "openai-7",
  enforce: "pre",
  resolveId(id) {
    if (!/^openai(?:\/|$)/.test(id)) return undefined;
    return this.resolve(id, join(import.meta.dirname, "package.json"), { skipSelf: true });
  },
};

const include = [
  "test/clients/*.test.ts",
  "test/responses/clients/openai*.test.ts",
  "test/responses/conversations.test.ts",
  "src/wire/chat-server/chunk-encoder.test.ts",
];

export default mergeConfig(
  { ...shared, test: { ...shared.test, projects: undefined } },
  defineConfig({
    root: join(import.meta.dirname, "../.."),
    plugins: [openai7],
    test: { include, globalSetup: ["test/support/bundle-command.ts"] },
  }),
);
