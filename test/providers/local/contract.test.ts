import { describe } from "vitest";
import { localProvider } from "../../../src/providers/local/local-provider.ts";
import { contractModel } from "../../contracts/contract-model.ts";
import {
  callsContract,
  providerContract,
  type ContractSubject,
} from "../../contracts/provider-contract.ts";
import { DIALECTS, startModelServer } from "../../support/server/model-server.ts";

describe.each(DIALECTS)("over a model that speaks %s", (dialect) => {
  const subject = (): ContractSubject => ({
    async start() {
      const server = await startModelServer(dialect, contractModel);
      // Asking a model again is right; the contract looks at one attempt.
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
