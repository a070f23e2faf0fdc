import { afterAll, beforeAll, expect } from "vitest";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import type { Emulator } from "../../src/emulator/start-emulator.ts";
import { TEST_CREDENTIALS as credentials } from "../../src/emulator/emulator-options.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { runtimeProvider } from "../../src/providers/agentcore/runtime-provider.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { contractBrain } from "../contracts/contract-brain.ts";
import {
  callsContract,
  noCallsContract,
  providerContract,
  type ContractSubject,
} from "../contracts/provider-contract.ts";
import { startCountingProxy } from "../support/server/counting-proxy.ts";

let emulator: Emulator;

beforeAll(async () => {
  emulator = await emulate({
    brain: "contract",
    brains: { contract: contractBrain() },
    runtimes: [{ name: "strands", style: "python" }],
    switches: { onDisconnect: "abort+forget" },
  });
});

afterAll(() => emulator.close());

/** A provider which reaches the emulator through a proxy; the proxy observes its connections. */
function overHttp(make: (endpoint: string) => Provider): ContractSubject {
  return {
    async start() {
      const proxy = await startCountingProxy(emulator.url);
      return {
        provider: make(proxy.url),
        visits: () => proxy.connectionCount,
        quiet: () => proxy.waitUntilQuiet(),
      };
    },
    refusal: { code: "throttled", phase: "http" },
    failureDetails: { phase: "stream" },
    requestId: expect.stringMatching(/./),
  };
}

const harness = (): ContractSubject =>
  overHttp((endpoint) => harnessProvider({ harnessArn: emulator.demoArn, endpoint, credentials }));
providerContract("agentcore-harness", harness);
callsContract("agentcore-harness", harness);

const runtime = (): ContractSubject =>
  overHttp((endpoint) => {
    const runtimeArn = emulator.demoArn.replace(/harness\/.*/, "runtime/strands");
    return runtimeProvider({ runtimeArn, endpoint, credentials });
  });
providerContract("agentcore-runtime", runtime);
noCallsContract("agentcore-runtime", runtime);
