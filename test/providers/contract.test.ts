import { afterAll, beforeAll } from "vitest";
import { parseScenario } from "../../src/emulator/brains/script/parse-scenario.ts";
import { scriptBrain } from "../../src/emulator/brains/script/script-brain.ts";
import { emulate } from "../../src/emulator/emulate.ts";
import type { Emulator } from "../../src/emulator/emulator.ts";
import { TEST_CREDENTIALS as credentials } from "../../src/emulator/emulator-options.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { harnessProvider } from "../../src/providers/agentcore-harness/harness-provider.ts";
import { runtimeProvider } from "../../src/providers/agentcore-runtime/runtime-provider.ts";
import {
  callsContract,
  CONTRACT_SCENARIO,
  noCallsContract,
  providerContract,
  type ContractSubject,
} from "../contracts/provider-contract.ts";

let emulator: Emulator;

beforeAll(async () => {
  const script = scriptBrain(parseScenario("contract.yaml", CONTRACT_SCENARIO), systemClock);
  emulator = await emulate({
    brain: "script",
    brains: { script },
    runtimes: [{ name: "strands", style: "python" }],
    switches: { onDisconnect: "abort+forget" },
  });
});

afterAll(() => emulator.close());

const harness = (): ContractSubject => ({
  url: emulator.url,
  make: (endpoint) => harnessProvider({ harnessArn: emulator.demoArn, endpoint, credentials }),
});
providerContract("agentcore-harness", harness);
callsContract("agentcore-harness", harness);

const runtime = (): ContractSubject => ({
  url: emulator.url,
  make: (endpoint) => {
    const runtimeArn = emulator.demoArn.replace(/harness\/.*/, "runtime/strands");
    return runtimeProvider({ runtimeArn, endpoint, credentials });
  },
});
providerContract("agentcore-runtime", runtime);
noCallsContract("agentcore-runtime", runtime);
