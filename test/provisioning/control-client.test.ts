import { describe, expect, it } from "vitest";
import {
  AbortError,
  AccessDeniedError,
  ConflictError,
  NotFoundError,
  QuotaExceededError,
  ServiceFailedError,
  ThrottledError,
  UnexpectedAnswerError,
  ValidationFailedError,
} from "../../src/domain/provider-error.ts";
import { controlClient } from "../../src/provisioning/control-client.ts";
import {
  ARN,
  endpointMembers,
  harnessMembers,
  ID,
  refusal,
  ROLE,
  scriptedPlane,
  SPEC,
  type Reply,
} from "../support/control-plane.ts";
import { rejection } from "../support/provider-session.ts";

const READY: Reply = { body: { harness: harnessMembers("READY") } };

describe("what reads", () => {
  it.each([
    ["a 500", refusal(500, "InternalServerException")],
    ["a 503 of a proxy", { status: 503, body: "<html>" }],
    ["a 429", refusal(429, "ThrottlingException")],
    ["a conflict that may be retried", refusal(409, "RetryableConflictException")],
    ["a lost connection", "reset" as const],
  ])("is asked for again after %s, after waits that double [AC-61]", async (_, failure) => {
    const plane = await scriptedPlane(() => (plane.asked.length < 4 ? failure : READY));
    const budget = plane.budget(60_000);
    const harness = await plane.settled(plane.client.getHarness(ID, budget));
    expect(harness).toMatchObject({ id: ID, status: "READY", version: "1" });
    expect(plane.asked.map(({ at }) => at)).toEqual([0, 200, 600, 1400]);
    budget.release();
    expect(plane.clock.pending).toBe(0);
  });

  it("waits as long as the service wishes [AC-61]", async () => {
    const busy = refusal(429, "ThrottlingException", { "retry-after": "3" });
    const plane = await scriptedPlane(() => (plane.asked.length < 2 ? busy : READY));
    await plane.settled(plane.client.getHarness(ID, plane.budget(60_000)));
    expect(plane.asked.map(({ at }) => at)).toEqual([0, 3000]);
  });

  it("gives up at once when the wish does not fit into the budget [AC-61]", async () => {
    const plane = await scriptedPlane(() =>
      refusal(503, "ServiceUnavailableException", { "retry-after": "120" }),
    );
    const budget = plane.budget(60_000);
    const error = await plane.settled(rejection(plane.client.getHarness(ID, budget)));
    expect(error).toBeInstanceOf(ServiceFailedError);
    expect({ asked: plane.asked.length, elapsed: budget.elapsed }).toEqual({
      asked: 1,
      elapsed: 0,
    });
  });

  it("is asked for four times at most, and never beyond the budget [AC-61]", async () => {
    const plane = await scriptedPlane(() => refusal(500, "InternalServerException"));
    await plane.settled(rejection(plane.client.getHarness(ID, plane.budget(60_000))));
    expect(plane.asked).toHaveLength(4);
    const short = plane.budget(500);
    await plane.settled(rejection(plane.client.getHarness(ID, short)));
    expect(plane.asked).toHaveLength(6);
    expect(short.elapsed).toBeLessThanOrEqual(500);
  });

  it("leaves a connection that says nothing for a new one [AC-61]", async () => {
    const plane = await scriptedPlane(() => (plane.asked.length < 2 ? "hang" : READY));
    const harness = await plane.settled(plane.client.getHarness(ID, plane.budget(600_000)));
    expect(harness.status).toBe("READY");
    expect(plane.asked.map(({ at }) => at)).toEqual([0, 15_200]);
  });

  it("shares a short budget among its attempts, and ends with it [AC-61, RMA-P1-13]", async () => {
    const plane = await scriptedPlane(() => "hang");
    const budget = plane.budget(4000);
    const error = await plane.settled(rejection(plane.client.getHarness(ID, budget)));
    expect(error).toMatchObject({ code: "idle_timeout" });
    expect(plane.asked.length).toBeGreaterThan(1);
    expect(budget.elapsed).toBeLessThanOrEqual(4000);
  });

  it("ends at once when its caller wants it, in the middle of a wait [AC-66]", async () => {
    const stop = new AbortController();
    const plane = await scriptedPlane(() => {
      queueMicrotask(() => stop.abort("enough"));
      return "hang";
    });
    const budget = plane.budget(60_000, stop.signal);
    const error = await plane.settled(rejection(plane.client.getHarness(ID, budget)));
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ cause: "enough" });
  });
});

describe("an answer that is an error", () => {
  it.each([
    [400, "ValidationException", ValidationFailedError],
    [402, "ServiceQuotaExceededException", QuotaExceededError],
    [403, "AccessDeniedException", AccessDeniedError],
    [404, "ResourceNotFoundException", NotFoundError],
    [409, "ConflictException", ConflictError],
  ])(
    "%i %s has the class it has on the other plane, and is not asked for again [AC-61, RMA-P2-8]",
    async (status, type, wanted) => {
      const plane = await scriptedPlane(() => refusal(status, type));
      const error = await plane.settled(rejection(plane.client.getHarness(ID, plane.budget(9000))));
      expect(error).toBeInstanceOf(wanted);
      expect(error).toMatchObject({
        status,
        phase: "http",
        requestId: "request-1",
        message: `${type}: no`,
      });
      expect(plane.asked).toHaveLength(1);
    },
  );

  it("is thrown as it is when it came to the last attempt [RMA-P2-8]", async () => {
    const plane = await scriptedPlane(() => refusal(429, "ThrottlingException"));
    const listing = plane.client.listHarnesses(plane.budget(60_000));
    expect(await plane.settled(rejection(listing))).toBeInstanceOf(ThrottledError);
  });
});

describe("what deletes", () => {
  it("is asked for again under one token, and has done it when the second answer is 404 [AC-61]", async () => {
    const plane = await scriptedPlane(() =>
      plane.asked.length === 1 ? "reset" : refusal(404, "ResourceNotFoundException"),
    );
    expect(await plane.settled(plane.client.deleteHarness(ID, plane.budget(9000)))).toBeNull();
    const tokens = plane.asked.map(({ query }) => query.get("clientToken"));
    expect(tokens).toHaveLength(2);
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/^[a-zA-Z0-9](-*[a-zA-Z0-9]){32,256}$/);
  });

  it("fails when the first answer is 404", async () => {
    const plane = await scriptedPlane(() => refusal(404, "ResourceNotFoundException"));
    const deletion = plane.client.deleteEndpoint(ID, "prod", plane.budget(9000));
    expect(await plane.settled(rejection(deletion))).toBeInstanceOf(NotFoundError);
  });

  it("leaves the memory where it is wanted", async () => {
    const plane = await scriptedPlane(() => READY);
    await plane.client.deleteHarness(ID, plane.budget(9000), { keepMemory: true });
    expect(plane.asked[0]?.query.get("deleteManagedMemory")).toBe("false");
  });
});

describe("what makes or changes something", () => {
  it("is asked for once, with a token, however it fails [AC-61, RMA-P1-7]", async () => {
    const plane = await scriptedPlane(() => refusal(500, "InternalServerException"));
    const { client } = plane;
    const budget = plane.budget(60_000);
    const calls = [
      () => client.createHarness(SPEC, budget),
      () => client.updateHarness(ID, { maxTokens: 5 }, budget),
      () => client.createEndpoint(ID, { name: "prod", version: "1" }, budget),
      () => client.updateEndpoint(ID, { name: "prod", changes: { version: "2" } }, budget),
    ];
    for (const call of calls) await plane.settled(rejection(call()));
    expect(plane.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
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

describe("a list", () => {
  const named = (...names: readonly string[]) =>
    names.map((name) =>
      harnessMembers("READY", { harnessName: name, harnessId: `${name}-a1b2c3d4e5` }),
    );

  it("is read to its last page [RMA-P1-8]", async () => {
    const pages = new Map([
      [null, { harnesses: named("a", "b"), nextToken: "2" }],
      ["2", { harnesses: named("c"), nextToken: "3" }],
      ["3", {}],
    ]);
    const plane = await scriptedPlane(({ query }) => ({ body: pages.get(query.get("nextToken")) }));
    const { items, isComplete } = await plane.client.listHarnesses(plane.budget(9000));
    expect(items.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(isComplete).toBe(true);
    expect(plane.asked.map(({ query }) => query.get("maxResults"))).toEqual(["100", "100", "100"]);
  });

  it("drops a cursor that comes again and says so, with every item once [RMA-P2-5]", async () => {
    const plane = await scriptedPlane(({ query }) => ({
      body: { harnesses: named(query.has("nextToken") ? "b" : "a", "both"), nextToken: "again" },
    }));
    const { items, isComplete } = await plane.client.listHarnesses(plane.budget(9000));
    expect(items.map(({ name }) => name)).toEqual(["a", "both", "b"]);
    expect(isComplete).toBe(false);
    expect(plane.asked).toHaveLength(2);
  });

  it("of versions and of endpoints is one too [RMA-P1-8]", async () => {
    const plane = await scriptedPlane(({ path, query }) => {
      const isLast = query.has("nextToken");
      const next = isLast ? {} : { nextToken: "2" };
      if (path.endsWith("/endpoints")) {
        const endpointName = isLast ? "prod" : "DEFAULT";
        return { body: { endpoints: [endpointMembers("READY", { endpointName })], ...next } };
      }
      const harnessVersion = isLast ? "1" : "2";
      return { body: { harnessVersions: [harnessMembers("READY", { harnessVersion })], ...next } };
    });
    const versions = await plane.client.listVersions(ID, plane.budget(9000));
    expect(versions.items.map(({ version }) => version)).toEqual(["2", "1"]);
    const endpoints = await plane.client.listEndpoints(ID, plane.budget(9000));
    expect(endpoints.items.map(({ name }) => name)).toEqual(["DEFAULT", "prod"]);
  });
});

describe("a success that lacks what must be in it", () => {
  it.each([
    ["no id", { harness: harnessMembers("CREATING", { harnessId: null }) }, `"harnessId"`],
    ["an ARN that is no text", { harness: harnessMembers("CREATING", { arn: 5 }) }, `"arn"`],
    ["a flat shape", harnessMembers("CREATING"), `"harnessId"`],
    ["no JSON", "<html>", "no JSON"],
    ["a list", [1], "no object"],
  ])("%s is an error that names it [RMA-P2-8]", async (_, body, words) => {
    const plane = await scriptedPlane(() => ({ status: 201, body }));
    const error = await rejection(plane.client.createHarness(SPEC, plane.budget(9000)));
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject({
      code: "unexpected_answer",
      message: expect.stringContaining(words),
      details: { operation: "CreateHarness", body: expect.any(String) },
    });
  });

  it("a list that is none is another", async () => {
    const plane = await scriptedPlane(() => ({ body: { harnesses: "none" } }));
    expect(await rejection(plane.client.listHarnesses(plane.budget(9000)))).toMatchObject({
      code: "unexpected_answer",
      message: "ListHarnesses was answered with success, but harnesses is no list",
    });
  });
});

describe("what cannot be right", () => {
  const wrong: readonly (readonly [string, object, string])[] = [
    ["a blank role", { roleArn: "  " }, "roleArn"],
    ["a role that is none", { roleArn: ARN }, "roleArn"],
    ["a long name", { name: "a".repeat(41) }, "name"],
    ["a name with a hyphen", { name: "a-b" }, "name"],
    ["two models", { model: { bedrockModelConfig: {}, openAiModelConfig: {} } }, "model"],
    ["two kinds of memory", { memory: { disabled: {}, managedMemoryConfiguration: {} } }, "memory"],
    ["a variable that is a number", { environmentVariables: { A: 1 } }, "environmentVariables.A"],
    ["a hook that is a text", { hooks: ["x"] }, "hooks[0]"],
    ["no iterations", { maxIterations: 0 }, "maxIterations"],
  ];

  it.each(wrong)("%s is refused before anything is sent", async (_, more, path) => {
    const plane = await scriptedPlane(() => READY);
    const spec = { ...SPEC, ...more };
    const error = await rejection(plane.client.createHarness(spec, plane.budget(9000)));
    expect(error).toMatchObject({ code: "invalid_option", details: { path } });
    expect(plane.asked).toEqual([]);
  });

  it("no change, a strange id or a strange version is refused too", async () => {
    const { client, budget, asked } = await scriptedPlane(() => READY);
    const calls = [
      () => client.updateHarness(ID, {}, budget(9000)),
      () => client.getHarness("../x", budget(9000)),
      () => client.getHarness(ID, budget(9000), "v1"),
      () => client.getEndpoint(ID, "1", budget(9000)),
    ];
    for (const call of calls) {
      expect(await rejection(call())).toMatchObject({ code: "invalid_option" });
    }
    expect(asked).toEqual([]);
    expect(() => controlClient({ region: "us-east-1.evil.com/" })).toThrow("region is");
  });
});

describe("the body of CreateHarness", () => {
  it("has every member that the service takes, and objects as they were given [RMA-P1-7]", async () => {
    const environment = {
      agentCoreRuntimeEnvironment: {
        lifecycleConfiguration: { idleRuntimeSessionTimeout: 60 },
        filesystemConfigurations: [{ sessionStorage: { mountPath: "/mnt/data" } }],
        newer: { than: ["this"] },
      },
    };
    const given = {
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
    const plane = await scriptedPlane(() => READY);
    const spec = { ...given, name: "demo", roleArn: ` ${ROLE}\n`, systemPrompt: "Be brief." };
    await plane.client.createHarness(spec, plane.budget(9000));
    expect(plane.asked[0]?.body).toEqual({
      ...given,
      harnessName: "demo",
      executionRoleArn: ROLE,
      systemPrompt: [{ text: "Be brief." }],
      clientToken: expect.any(String),
    });
  });

  it("leaves out an environment that says nothing", async () => {
    const plane = await scriptedPlane(() => READY);
    await plane.client.createHarness({ ...SPEC, environment: {} }, plane.budget(9000));
    expect(plane.asked[0]?.body).not.toHaveProperty("environment");
  });

  it("of UpdateHarness wraps what may be taken away", async () => {
    const plane = await scriptedPlane(() => READY);
    const changes = {
      memory: null,
      environmentArtifact: { containerConfiguration: {} },
      tools: [],
    };
    await plane.client.updateHarness(ID, changes, plane.budget(9000));
    expect(plane.asked[0]?.body).toEqual({
      memory: {},
      environmentArtifact: { optionalValue: { containerConfiguration: {} } },
      tools: [],
      clientToken: expect.any(String),
    });
  });
});

describe("the place", () => {
  it.each([
    ["eu-central-1", "https://bedrock-agentcore-control.eu-central-1.amazonaws.com"],
    ["cn-north-1", "https://bedrock-agentcore-control.cn-north-1.amazonaws.com.cn"],
    ["us-gov-west-1", "https://bedrock-agentcore-control.us-gov-west-1.amazonaws.com"],
  ])("of %s is %s [RMA-P0-11]", (region, origin) => {
    expect(controlClient({ region }).origin).toBe(origin);
  });
});
