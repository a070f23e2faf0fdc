import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    // Clients that need Node 22: npm run test:clients installs and runs them.
    exclude: ["**/node_modules/**", "test/clients/**"],
    // The last resort: a wait in a test has its own deadline, of seconds (test/support/within.ts). Files that need longer
    // say so (test/support/long-tests.ts).
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By default one is left free, which on a machine with two is half.
    maxWorkers: "100%",
    // Commands under test keep the keys that they make away from the user's own.
    env: { XDG_STATE_HOME: join(tmpdir(), "spanline-test-state") },
  },
});
