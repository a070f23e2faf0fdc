import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

const ALL = ["src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"];

/** Tests with processes or servers, or with a duration of seconds. */
const PROCESS = [
  "test/{a2a,acp,aigo,bridge,cli,emulator,host,kill,mcp,portal,provisioning,responses,workspace}/**/*.test.ts",
  "test/policy/shells.test.ts",
  "test/providers/memory.test.ts",
  "test/session/remote/**/*.test.ts",
  "test/session/**/{programs,state-form}.test.ts",
  "test/store/sqlite-kill.test.ts",
  "examples/**/*.test.ts",
];

/** Tests of the other lanes which try every case in the full lane: a kill at every append, a cut at every byte, all stories. */
const EXHAUSTIVE = [
  "test/kill/*.test.ts",
  "src/wire/agentcore/runtime/runtime-stream.test.ts",
  "test/**/*{properties,property}.test.ts",
  "src/**/*.{property,fuzz}.test.ts",
];

/** Packaging, and checkers with planted violations. */
const FULL = ["test/{package,entries,install,build,checks,portal-size}.test.ts"];

/** Packages of their own: `npm run test:clients` and `npm run test:browser` install and run these tests. */
const PACKAGES = ["**/node_modules/**", "test/clients/**", "test/browser/**"];

function lane(name: string, include: string[], exclude: string[]): TestProjectInlineConfiguration {
  const isFast = name === "fast";
  const globalSetup = isFast ? [] : ["test/support/bundle-command.ts"];
  return {
    extends: true,
    test: {
      name,
      include,
      exclude: [...PACKAGES, ...exclude],
      globalSetup,
      // The files of a worker share their modules, which halves the CPU time of the lane: no module holds state.
      isolate: !isFast,
    },
  };
}

/**
 * Three lanes. `npm run test:fast` runs `fast` with fewer random cases, `npm test` runs `fast` and `process`, and
 * `npm run test:full` runs `full`.
 */
export default defineConfig({
  test: {
    projects: [
      lane("fast", ALL, [...PROCESS, ...FULL]),
      lane("process", PROCESS, FULL),
      lane("full", [...FULL, ...EXHAUSTIVE], []),
    ],
    // The last resort: a wait in a test has its own deadline, of seconds (test/support/with-deadline.ts). Files that need longer
    // say so (test/support/allow-long-tests.ts).
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Vitest leaves one core free by default, which is half of a machine with two.
    maxWorkers: "100%",
    // Commands under test store their keys apart from the user's own.
    env: { XDG_STATE_HOME: join(tmpdir(), "spanline-test-state") },
  },
});
