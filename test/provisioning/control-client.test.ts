import { describe, expect, it } from "vitest";
import {
  AbortError,
  AccessDeniedError,
  ConflictError,
  NotFoundError,
  QuotaExceededError,
  ServiceFailedError,
  ThrottledError,
  UnexpectedResponseError,
  ValidationFailedError,
} from "../../src/domain/provider/provider-error.ts";
import { createControlClient } from "../../src/provisioning/control-client.ts";
import {
  ARN,
  createEndpointMembers,
  createHarnessMembers,
  ID,
  createRefusal,
  ROLE,
  startScriptedControlPlane,
  SPEC,
  type ControlReply,
} from "../support/server/scripted-control-plane.ts";
import { catchRejection } from "../support/session/provider-session.ts";

const READY: ControlReply = { body: { harness: createHarnessMembers("READY") } };

describe("Read requests", () => {
  it.each([
    ["a 500", createRefusal(500, "InternalServerException")],
    ["a 503 of a proxy", { status: 503, body: "<html>" }],
    ["a 429", createRefusal(429, "ThrottlingException")],
    ["a conflict that may be retried", createRefusal(409, "RetryableConflictException")],
    ["a lost connection", "reset" as const],
  ])("A read is retried after %s, with delays that double [AC-61]", async (_, failure) => {
    const plane = await startScriptedControlPlane(() =>
      plane.requests.length < 4 ? failure : READY,
    );
    const budget = plane.budget(60_000);
    const harness = await plane.settle(plane.client.getHarness(ID, budget));
    expect(harness).toMatchObject({ id: ID, status: "READY", version: "1" });
    expect(plane.requests.map(({ at }) => at)).toEqual([0, 200, 600, 1400]);
    budget.release();
    expect(plane.clock.pending).toBe(0);
  });

  it("A retry waits as long as retry-after says [AC-61]", async () => {
    const busy = createRefusal(429, "ThrottlingException", { "retry-after": "3" });
    const plane = await startScriptedControlPlane(() => (plane.requests.length < 2 ? busy : READY));
    await plane.settle(plane.client.getHarness(ID, plane.budget(60_000)));
    expect(plane.requests.map(({ at }) => at)).toEqual([0, 3000]);
  });

  it("A read fails at once if retry-after exceeds the budget [AC-61]", async () => {
    const plane = await startScriptedControlPlane(() =>
      createRefusal(503, "ServiceUnavailableException", { "retry-after": "120" }),
    );
    const budget = plane.budget(60_000);
    const error = await plane.settle(catchRejection(plane.client.getHarness(ID, budget)));
    expect(error).toBeInstanceOf(ServiceFailedError);
    expect({ asked: plane.requests.length, elapsed: budget.elapsed }).toEqual({
      asked: 1,
      elapsed: 0,
    });
  });

  it("A read is tried at most four times, and never beyond the budget [AC-61]", async () => {
    const plane = await startScriptedControlPlane(() =>
      createRefusal(500, "InternalServerException"),
    );
    await plane.settle(catchRejection(plane.client.getHarness(ID, plane.budget(60_000))));
    expect(plane.requests).toHaveLength(4);
    const short = plane.budget(500);
    await plane.settle(catchRejection(plane.client.getHarness(ID, short)));
    expect(plane.requests).toHaveLength(6);
    expect(short.elapsed).toBeLessThanOrEqual(500);
  });

  it("A silent connection is replaced by a new one [AC-61]", async () => {
    const plane = await startScriptedControlPlane(() =>
      plane.requests.length < 2 ? "hang" : READY,
    );
    const harness = await plane.settle(plane.client.getHarness(ID, plane.budget(600_000)));
    expect(harness.status).toBe("READY");
    expect(plane.requests.map(({ at }) => at)).toEqual([0, 15_200]);
  });

  it("A short budget is shared among the attempts, and the read ends with it [AC-61, RMA-P1-13]", async () => {
    const plane = await startScriptedControlPlane(() => "hang");
    const budget = plane.budget(4000);
    const error = await plane.settle(catchRejection(plane.client.getHarness(ID, budget)));
    expect(error).toMatchObject({ code: "idle_timeout" });
    expect(plane.requests.length).toBeGreaterThan(1);
    expect(budget.elapsed).toBeLessThanOrEqual(4000);
  });

  it("An abort ends a read at once, even while it waits [AC-66]", async () => {
    const stop = new AbortController();
    const plane = await startScriptedControlPlane(() => {
      queueMicrotask(() => stop.abort("enough"));
      return "hang";
    });
    const budget = plane.budget(60_000, stop.signal);
    const error = await plane.settle(catchRejection(plane.client.getHarness(ID, budget)));
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ cause: "enough" });
  });
});

describe("Error responses of the control plane", () => {
  it.each([
    [400, "ValidationException", ValidationFailedError],
    [402, "ServiceQuotaExceededException", QuotaExceededError],
    [403, "AccessDeniedException", AccessDeniedError],
    [404, "ResourceNotFoundException", NotFoundError],
    [409, "ConflictException", ConflictError],
  ])(
    "%i %s has the same error class as on the data plane and is not retried [AC-61, RMA-P2-8]",
    async (status, type, expected) => {
      const plane = await startScriptedControlPlane(() => createRefusal(status, type));
      const error = await plane.settle(
        catchRejection(plane.client.getHarness(ID, plane.budget(9000))),
      );
      expect(error).toBeInstanceOf(expected);
      expect(error).toMatchObject({
        status,
        phase: "http",
        requestId: "request-1",
        message: `${type}: no`,
      });
      expect(plane.requests).toHaveLength(1);
    },
  );

  it("The error of the last attempt is thrown unchanged [RMA-P2-8]", async () => {
    const plane = await startScriptedControlPlane(() => createRefusal(429, "ThrottlingException"));
    const listing = plane.client.listHarnesses(plane.budget(60_000));
    expect(await plane.settle(catchRejection(listing))).toBeInstanceOf(ThrottledError);
  });
});

describe("Delete requests", () => {
  it("A delete is retried with the same token, and a 404 on retry counts as success [AC-61]", async () => {
    const plane = await startScriptedControlPlane(() =>
      plane.requests.length === 1 ? "reset" : createRefusal(404, "ResourceNotFoundException"),
    );
    expect(await plane.settle(plane.client.deleteHarness(ID, plane.budget(9000)))).toBeNull();
    const tokens = plane.requests.map(({ query }) => query.get("clientToken"));
    expect(tokens).toHaveLength(2);
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/^[a-zA-Z0-9](-*[a-zA-Z0-9]){32,256}$/);
  });

  it("A delete whose first response is 404 fails", async () => {
    const plane = await startScriptedControlPlane(() =>
      createRefusal(404, "ResourceNotFoundException"),
    );
    const deletion = plane.client.deleteEndpoint(ID, "prod", plane.budget(9000));
    expect(await plane.settle(catchRejection(deletion))).toBeInstanceOf(NotFoundError);
  });

  it("A delete keeps the memory on request", async () => {
    const plane = await startScriptedControlPlane(() => READY);
    await plane.client.deleteHarness(ID, plane.budget(9000), { keepMemory: true });
    expect(plane.requests[0]?.query.get("deleteManagedMemory")).toBe("false");
  });
});

describe("Create and update requests", () => {
  it("A create or update is sent once with a token, however it fails [AC-61, RMA-P1-7]", async () => {
    const plane = await startScriptedControlPlane(() =>
      createRefusal(500, "InternalServerException"),
    );
    const { client } = plane;
    const budget = plane.budget(60_000);
    const calls = [
      () => client.createHarness(SPEC, budget),
      () => client.updateHarness(ID, { maxTokens: 5 }, budget),
      () => client.createEndpoint(ID, { name: "prod", version: "1" }, budget),
      () => client.updateEndpoint(ID, { name: "prod", changes: { version: "2" } }, budget),
    ];
    for (const call of calls) await plane.settle(catchRejection(call()));
    expect(plane.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      [
        "POST",
        "/harnesses",
        {
          harnessName: "demo",
          executionRoleArn: ROLE,
          systemPrompt: [{ text: "Be brief." }],
          clientToken: expect.stringMatching(/^.{33,256}$/),
        },
      ],
      ["PATCH", `/harnesses/${ID}`, { maxTokens: 5, clientToken: expect.any(String) }],
      [
        "POST",
        `/harnesses/${ID}/endpoints`,
        { endpointName: "prod", targetVersion: "1", clientToken: expect.any(String) },
      ],
      [
        "PATCH",
        `/harnesses/${ID}/endpoints/prod`,
        { targetVersion: "2", clientToken: expect.any(String) },
      ],
    ]);
  });
});

describe("Lists", () => {
  const named = (...names: readonly string[]) =>
    names.map((name) =>
      createHarnessMembers("READY", { harnessName: name, harnessId: `${name}-a1b2c3d4e5` }),
    );

  it("A list is read to its last page [RMA-P1-8]", async () => {
    const pages = new Map([
      [null, { harnesses: named("a", "b"), nextToken: "2" }],
      ["2", { harnesses: named("c"), nextToken: "3" }],
      ["3", {}],
    ]);
    const plane = await startScriptedControlPlane(({ query }) => ({
      body: pages.get(query.get("nextToken")),
    }));
    const { items, isComplete } = await plane.client.listHarnesses(plane.budget(9000));
    expect(items.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(isComplete).toBe(true);
    expect(plane.requests.map(({ query }) => query.get("maxResults"))).toEqual([
      "100",
      "100",
      "100",
    ]);
  });

  it("A repeated page token ends the list, marked incomplete and without duplicates [RMA-P2-5]", async () => {
    const plane = await startScriptedControlPlane(({ query }) => ({
      body: { harnesses: named(query.has("nextToken") ? "b" : "a", "both"), nextToken: "again" },
    }));
    const { items, isComplete } = await plane.client.listHarnesses(plane.budget(9000));
    expect(items.map(({ name }) => name)).toEqual(["a", "both", "b"]);
    expect(isComplete).toBe(false);
    expect(plane.requests).toHaveLength(2);
  });

  it("Lists of versions and endpoints are read to the last page [RMA-P1-8]", async () => {
    const plane = await startScriptedControlPlane(({ path, query }) => {
      const isLast = query.has("nextToken");
      const next = isLast ? {} : { nextToken: "2" };
      if (path.endsWith("/endpoints")) {
        const endpointName = isLast ? "prod" : "DEFAULT";
        return { body: { endpoints: [createEndpointMembers("READY", { endpointName })], ...next } };
      }
      const harnessVersion = isLast ? "1" : "2";
      return {
        body: { harnessVersions: [createHarnessMembers("READY", { harnessVersion })], ...next },
      };
    });
    const versions = await plane.client.listVersions(ID, plane.budget(9000));
    expect(versions.items.map(({ version }) => version)).toEqual(["2", "1"]);
    const endpoints = await plane.client.listEndpoints(ID, plane.budget(9000));
    expect(endpoints.items.map(({ name }) => name)).toEqual(["DEFAULT", "prod"]);
  });
});

describe("Success responses with missing members", () => {
  it.each([
    [
      "a missing id",
      { harness: createHarnessMembers("CREATING", { harnessId: null }) },
      `"harnessId"`,
    ],
    [
      "an ARN that is not a string",
      { harness: createHarnessMembers("CREATING", { arn: 5 }) },
      `"arn"`,
    ],
    ["a flat shape", createHarnessMembers("CREATING"), `"harnessId"`],
    ["a body that is not JSON", "<html>", "not JSON"],
    ["a list", [1], "not an object"],
  ])(
    "A success response with %s is an error that names the member [RMA-P2-8]",
    async (_, body, words) => {
      const plane = await startScriptedControlPlane(() => ({ status: 201, body }));
      const error = await catchRejection(plane.client.createHarness(SPEC, plane.budget(9000)));
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({
        code: "unexpected_answer",
        message: expect.stringContaining(words),
        details: { operation: "CreateHarness", body: expect.any(String) },
      });
    },
  );

  it("A list that is not an array is an error", async () => {
    const plane = await startScriptedControlPlane(() => ({ body: { harnesses: "none" } }));
    expect(await catchRejection(plane.client.listHarnesses(plane.budget(9000)))).toMatchObject({
      code: "unexpected_answer",
      message: "ListHarnesses returned a success status, but harnesses is not a list",
    });
  });
});

describe("Invalid requests", () => {
  const wrong: readonly (readonly [string, object, string])[] = [
    ["role (blank)", { roleArn: "  " }, "roleArn"],
    ["role (an ARN of another kind)", { roleArn: ARN }, "roleArn"],
    ["name (too long)", { name: "a".repeat(41) }, "name"],
    ["name (with a hyphen)", { name: "a-b" }, "name"],
    ["model (two models)", { model: { bedrockModelConfig: {}, openAiModelConfig: {} } }, "model"],
    ["memory (two kinds)", { memory: { disabled: {}, managedMemoryConfiguration: {} } }, "memory"],
    [
      "environment variable (a number)",
      { environmentVariables: { A: 1 } },
      "environmentVariables.A",
    ],
    ["hook (a string)", { hooks: ["x"] }, "hooks[0]"],
    ["number of iterations", { maxIterations: 0 }, "maxIterations"],
  ];

  it.each(wrong)("An invalid %s is refused before anything is sent", async (_, more, path) => {
    const plane = await startScriptedControlPlane(() => READY);
    const spec = { ...SPEC, ...more };
    const error = await catchRejection(plane.client.createHarness(spec, plane.budget(9000)));
    expect(error).toMatchObject({ code: "invalid_option", details: { path } });
    expect(plane.requests).toEqual([]);
  });

  it("An empty change, an invalid id and an invalid version are refused", async () => {
    const { client, budget, requests } = await startScriptedControlPlane(() => READY);
    const calls = [
      () => client.updateHarness(ID, {}, budget(9000)),
      () => client.getHarness("../x", budget(9000)),
      () => client.getHarness(ID, budget(9000), "v1"),
      () => client.getEndpoint(ID, "1", budget(9000)),
    ];
    for (const call of calls) {
      expect(await catchRejection(call())).toMatchObject({ code: "invalid_option" });
    }
    expect(requests).toEqual([]);
    expect(() => createControlClient({ region: "us-east-1.evil.com/" })).toThrow("region is");
  });
});

describe("Request bodies", () => {
  it("CreateHarness sends every member of the service and passes objects unchanged [RMA-P1-7]", async () => {
    const environment = {
      agentCoreRuntimeEnvironment: {
        lifecycleConfiguration: { idleRuntimeSessionTimeout: 60 },
        filesystemConfigurations: [{ sessionStorage: { mountPath: "/mnt/data" } }],
        newer: { than: ["this"] },
      },
    };
    const providedSpec = {
      environment,
      environmentArtifact: { containerConfiguration: { containerUri: "1.dkr/x" } },
      environmentVariables: { A: "1" },
      authorizerConfiguration: { customJWTAuthorizer: { discoveryUrl: "https://x" } },
      model: { bedrockModelConfig: { modelId: "us.x", temperature: 0.5 } },
      tools: [{ type: "agentcore_browser" }],
      skills: [{ path: "/skills" }],
      allowedTools: ["@builtin"],
      memory: { disabled: {} },
      truncation: { strategy: "none" },
      hooks: [{ name: "audit", type: "afterToolCall" }],
      maxIterations: 10,
      maxTokens: 1000,
      timeoutSeconds: 60,
      tags: { team: "a" },
    };
    const plane = await startScriptedControlPlane(() => READY);
    const spec = {
      ...providedSpec,
      name: "demo",
      roleArn: ` ${ROLE}\n`,
      systemPrompt: "Be brief.",
    };
    await plane.client.createHarness(spec, plane.budget(9000));
    expect(plane.requests[0]?.body).toEqual({
      ...providedSpec,
      harnessName: "demo",
      executionRoleArn: ROLE,
      systemPrompt: [{ text: "Be brief." }],
      clientToken: expect.any(String),
    });
  });

  it("CreateHarness omits an empty environment", async () => {
    const plane = await startScriptedControlPlane(() => READY);
    await plane.client.createHarness({ ...SPEC, environment: {} }, plane.budget(9000));
    expect(plane.requests[0]?.body).not.toHaveProperty("environment");
  });

  it("UpdateHarness wraps members that can be removed", async () => {
    const plane = await startScriptedControlPlane(() => READY);
    const changes = {
      memory: null,
      environmentArtifact: { containerConfiguration: {} },
      tools: [],
    };
    await plane.client.updateHarness(ID, changes, plane.budget(9000));
    expect(plane.requests[0]?.body).toEqual({
      memory: {},
      environmentArtifact: { optionalValue: { containerConfiguration: {} } },
      tools: [],
      clientToken: expect.any(String),
    });
  });
});

describe("The control plane endpoint", () => {
  it.each([
    ["eu-central-1", "https://bedrock-agentcore-control.eu-central-1.amazonaws.com"],
    ["cn-north-1", "https://bedrock-agentcore-control.cn-north-1.amazonaws.com.cn"],
    ["us-gov-west-1", "https://bedrock-agentcore-control.us-gov-west-1.amazonaws.com"],
  ])("The endpoint of %s is %s [RMA-P0-11]", (region, origin) => {
    expect(createControlClient({ region }).origin).toBe(origin);
  });
});
