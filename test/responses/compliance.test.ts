import { describe, expect, it } from "vitest";
import { complianceTests } from "./support/compliance.ts";
import { startDemo, startServed } from "./support/start-server.ts";
import { suiteAgent } from "./support/suite-agent.ts";
import { answered } from "./support/target.ts";

describe.each([
  ["a scripted agent", () => startServed(suiteAgent())],
  ["the demo agent", startDemo],
])("The compliance suite with %s", (_, start) => {
  it("All tests of the suite pass concurrently on one server [OR-75]", async () => {
    const target = await start();
    const results = await Promise.allSettled(complianceTests.map((test) => test.run(target)));
    const failed = results.flatMap((result, index) =>
      result.status === "rejected"
        ? [`${complianceTests[index]?.id}: ${String(result.reason)}`]
        : [],
    );
    expect(failed).toEqual([]);
  });

  it.each(complianceTests)("Compliance test $id passes alone [OR-75]", async ({ run }) => {
    await expect(run(await start())).resolves.toBeUndefined();
  });
});

describe("Requests of the compliance suite", () => {
  it("A system message of the suite reaches the agent as instructions [OR-60]", async () => {
    const served = await startServed(suiteAgent());
    const system = { type: "message", role: "system", content: "You are a pirate." };
    const user = { type: "message", role: "user", content: "Say hello." };
    await answered(served, "/responses", { input: [system, user], instructions: "Be brief." });
    expect(served.agentCalls()).toMatchObject([
      {
        instructions: expect.stringMatching(/Be brief\.[^]*You are a pirate\./),
        texts: ["Say hello."],
      },
    ]);
  });
});
