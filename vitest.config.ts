import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    // Property and fuzz tests are bounded in runs, not in time; a slow machine must not fail them.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // By default one is left free, which on a machine with two is half.
    maxWorkers: "100%",
    // Commands under test keep the keys that they make away from the user's own.
    env: { XDG_STATE_HOME: join(tmpdir(), "spanline-test-state") },
  },
});
