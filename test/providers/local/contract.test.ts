import { describe } from "vitest";
import { localProvider } from "../../../src/providers/local/local-provider.ts";
import { contractModel } from "../../contracts/contract-model.ts";
import {
  callsContract,
  providerContract,
  type ContractSubject,
} from "../../contracts/provider-contract.ts";
import { DIALECTS, startModelServer } from "../../support/server/model-server.ts";

describe.each(DIALECTS)("The local provider over a model with the dialect %s", (dialect) => {
  const subject = (): ContractSubject => ({
    async start() {
      const server = await startModelServer(dialect, contractModel);
      // The model normally retries a request; the contract examines a single attempt.
      const model = server.createModel({ maxAttempts: 1 });
      return {
        provider: localProvider({ model }),
        visits: () => server.requests.length,
        quiet: () => server.waitUntilQuiet(),
      };
    },
    refusal: { code: "throttled", phase: "http" },
    failureDetails: { phase: "stream" },
    requestId: "req-1",
  });
  providerContract("local", subject);
  callsContract("local", subject);
});
