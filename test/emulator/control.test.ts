import {
  CreateHarnessCommand,
  CreateHarnessEndpointCommand,
  DeleteHarnessCommand,
  DeleteHarnessEndpointCommand,
  GetHarnessCommand,
  GetHarnessEndpointCommand,
  ListHarnessEndpointsCommand,
  ListHarnessesCommand,
  ListHarnessVersionsCommand,
  ListTagsForResourceCommand,
  paginateListHarnesses,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateHarnessCommand,
  UpdateHarnessEndpointCommand,
  type BedrockAgentCoreControlClient,
} from "@aws-sdk/client-bedrock-agentcore-control";
import { describe, expect, it } from "vitest";
import { harnessNamed, ROLE, started, stillClock, TOKEN } from "./start-control-plane.ts";

const NOW = new Date("2026-01-02T03:04:05.678Z");
const SECONDS = 1000;

async function created(client: BedrockAgentCoreControlClient, name = "helper"): Promise<string> {
  const { harness } = await client.send(new CreateHarnessCommand(harnessNamed(name)));
  return harness?.harnessId ?? "";
}

async function statusOf(
  client: BedrockAgentCoreControlClient,
  harnessId: string,
): Promise<string | undefined> {
  return (await client.send(new GetHarnessCommand({ harnessId }))).harness?.status;
}

async function endpointStatusOf(
  client: BedrockAgentCoreControlClient,
  harnessId: string,
  endpointName = "DEFAULT",
): Promise<string | undefined> {
  const command = new GetHarnessEndpointCommand({ harnessId, endpointName });
  return (await client.send(command)).endpoint?.status;
}

describe("The harness control plane, called by the AWS SDK [AC-86] [AC-91]", () => {
  it("A created harness has all members that the service documents", async () => {
    const { client } = await started({ clock: stillClock() });
    const answer = await client.send(new CreateHarnessCommand(harnessNamed("helper")));
    expect(answer.$metadata).toMatchObject({
      httpStatusCode: 201,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const { harness } = answer;
    const id = harness?.harnessId ?? "";
    expect(id).toMatch(/^helper-[a-zA-Z0-9]{10}$/);
    const prefix = "arn:aws:bedrock-agentcore:us-east-1:123456789012";
    expect(harness).toEqual({
      harnessId: id,
      harnessName: "helper",
      arn: `${prefix}:harness/${id}`,
      status: "CREATING",
      harnessVersion: "1",
      executionRoleArn: ROLE,
      createdAt: NOW,
      updatedAt: NOW,
      model: { bedrockModelConfig: { modelId: "global.anthropic.claude-sonnet-4-6" } },
      systemPrompt: [],
      tools: [],
      skills: [],
      allowedTools: ["*"],
      truncation: { strategy: "sliding_window" },
      environment: {
        agentCoreRuntimeEnvironment: {
          agentRuntimeArn: `${prefix}:runtime/harness_${id}`,
          agentRuntimeName: "harness_helper",
          agentRuntimeId: `harness_${id}`,
          lifecycleConfiguration: { idleRuntimeSessionTimeout: 900, maxLifetime: 28_800 },
          networkConfiguration: { networkMode: "PUBLIC" },
        },
      },
      memory: {
        managedMemoryConfiguration: {
          arn: `${prefix}:memory/harness_${id}`,
          eventExpiryDuration: 30,
        },
      },
    });
    expect((await client.send(new GetHarnessCommand({ harnessId: id }))).harness).toEqual({
      ...harness,
      status: "READY",
    });
  });

  it("The configuration of a harness is stored unchanged", async () => {
    const { client, emulator } = await started();
    const schema = {
      type: "object",
      properties: { __proto__: { type: "number" }, n: { const: 1.5 } },
    };
    const configuration = {
      model: {
        openAiModelConfig: { modelId: "m", apiKeyArn: "arn:x", additionalParams: { a: [null] } },
      },
      systemPrompt: [{ text: "Grüße 🌍" }],
      tools: [
        {
          type: "inline_function" as const,
          name: "add",
          config: { inlineFunction: { description: "Adds", inputSchema: schema } },
        },
      ],
      skills: [{ path: "/skills/one" }],
      allowedTools: ["@builtin", "add"],
      truncation: { strategy: "none" as const },
      environmentVariables: { SPANLINE_BRAIN: "script:a.yaml", EMPTY: "" },
      memory: { disabled: {} },
      maxIterations: 3,
      maxTokens: 100,
      timeoutSeconds: 60,
    };
    const { harness } = await client.send(
      new CreateHarnessCommand(
        harnessNamed("helper", {
          ...configuration,
          environment: {
            agentCoreRuntimeEnvironment: {
              lifecycleConfiguration: { idleRuntimeSessionTimeout: 60 },
              networkConfiguration: {
                networkMode: "VPC",
                networkModeConfig: {
                  securityGroups: ["sg-12345678"],
                  subnets: ["subnet-12345678"],
                },
              },
            },
          },
          tags: { team: "one" },
        }),
      ),
    );
    expect(harness).toMatchObject({
      ...configuration,
      environment: {
        agentCoreRuntimeEnvironment: {
          lifecycleConfiguration: { idleRuntimeSessionTimeout: 60, maxLifetime: 28_800 },
          networkConfiguration: { networkMode: "VPC" },
        },
      },
    });
    const record = emulator.registry.findHarness(
      harness?.arn ?? "",
      undefined,
      emulator.clock.now(),
    );
    expect(record).toEqual({
      arn: harness?.arn,
      id: harness?.harnessId,
      name: "helper",
      version: "1",
      endpoint: "DEFAULT",
      status: "READY",
      endpointStatus: "READY",
      model: configuration.model,
      systemPrompt: configuration.systemPrompt,
      tools: configuration.tools,
      allowedTools: configuration.allowedTools,
      skills: configuration.skills,
      maxIterations: 3,
      maxTokens: 100,
      timeoutSeconds: 60,
      memory: null,
      environmentVariables: configuration.environmentVariables,
      tags: { team: "one" },
      lifecycle: { idleSeconds: 60, lifetimeSeconds: 28_800 },
      brain: "script:a.yaml",
    });
  });

  it("A harness goes from CREATING to READY as the clock advances, and its endpoint follows later", async () => {
    const delays = { visible: 1000, create: 20_000, endpointVisible: 2000, endpoint: 5000 };
    const { client, emulator } = await started({ clock: stillClock(), delays });
    const id = await created(client);
    await expect(statusOf(client, id)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
    await emulator.advance(1000);
    expect(await statusOf(client, id)).toBe("CREATING");
    await expect(endpointStatusOf(client, id)).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
    await emulator.advance(18_999);
    expect([await statusOf(client, id), await endpointStatusOf(client, id)]).toEqual([
      "CREATING",
      "CREATING",
    ]);
    await emulator.advance(1);
    expect([await statusOf(client, id), await endpointStatusOf(client, id)]).toEqual([
      "READY",
      "CREATING",
    ]);
    await emulator.advance(5000);
    expect(await endpointStatusOf(client, id)).toBe("READY");
    const { harness } = await client.send(new GetHarnessCommand({ harnessId: id }));
    expect(harness).toMatchObject({
      createdAt: NOW,
      updatedAt: new Date(NOW.getTime() + 20 * SECONDS),
    });
  });

  it("Every update creates a version that DEFAULT follows, and other endpoints keep theirs", async () => {
    const delays = { update: 10_000, endpoint: 5000 };
    const { client, emulator } = await started({ clock: stillClock(), delays });
    const harnessId = await created(client);
    await emulator.advance(5000);
    const { endpoint } = await client.send(
      new CreateHarnessEndpointCommand({ harnessId, endpointName: "prod", description: "stays" }),
    );
    const arn = `arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/${harnessId}`;
    expect(endpoint).toEqual({
      harnessId,
      harnessName: "helper",
      endpointName: "prod",
      arn: `${arn}/endpoint/prod`,
      status: "CREATING",
      createdAt: new Date(NOW.getTime() + 5 * SECONDS),
      updatedAt: new Date(NOW.getTime() + 5 * SECONDS),
      targetVersion: "1",
      description: "stays",
    });
    const updated = await client.send(
      new UpdateHarnessCommand({ harnessId, systemPrompt: [{ text: "two" }], maxIterations: 7 }),
    );
    expect(updated.harness).toMatchObject({ status: "UPDATING", harnessVersion: "2" });
    expect(await endpointStatusOf(client, harnessId)).toBe("UPDATING");
    await expect(
      client.send(new UpdateHarnessCommand({ harnessId, maxIterations: 8 })),
    ).rejects.toMatchObject({ name: "ConflictException" });
    await emulator.advance(15_000);
    const { endpoints } = await client.send(new ListHarnessEndpointsCommand({ harnessId }));
    expect(
      endpoints?.map(({ endpointName, status, liveVersion, targetVersion }) => [
        endpointName,
        status,
        liveVersion,
        targetVersion,
      ]),
    ).toEqual([
      ["DEFAULT", "READY", "2", "2"],
      ["prod", "READY", "1", "1"],
    ]);
    const served = (qualifier?: string) =>
      emulator.registry.findHarness(arn, qualifier, emulator.clock.now())?.systemPrompt;
    expect([served(), served("prod"), served("none")]).toEqual([[{ text: "two" }], [], undefined]);

    const { harnessVersions } = await client.send(new ListHarnessVersionsCommand({ harnessId }));
    expect(harnessVersions).toEqual([
      expect.objectContaining({ harnessVersion: "2", status: "READY", harnessId, arn }),
      expect.objectContaining({ harnessVersion: "1", status: "READY", createdAt: NOW }),
    ]);
    const first = await client.send(new GetHarnessCommand({ harnessId, harnessVersion: "1" }));
    expect(first.harness).toMatchObject({ harnessVersion: "1", systemPrompt: [] });
    await expect(
      client.send(new GetHarnessCommand({ harnessId, harnessVersion: "3" })),
    ).rejects.toMatchObject({ name: "ResourceNotFoundException" });

    const moved = await client.send(
      new UpdateHarnessEndpointCommand({ harnessId, endpointName: "prod", targetVersion: "2" }),
    );
    expect(moved.endpoint).toMatchObject({
      status: "UPDATING",
      liveVersion: "1",
      targetVersion: "2",
      description: "stays",
    });
    expect(served("prod")).toEqual([]);
    await emulator.advance(5000);
    expect(served("prod")).toEqual([{ text: "two" }]);
  });

  it("An update replaces the named members, keeps the others, and clears a member by an empty wrapper", async () => {
    const { client } = await started();
    const container = { containerUri: "123456789012.dkr.ecr.us-east-1.amazonaws.com/a:1" };
    const { harness } = await client.send(
      new CreateHarnessCommand(
        harnessNamed("helper", {
          allowedTools: ["a", "b"],
          environmentArtifact: { containerConfiguration: container },
          maxTokens: 5,
        }),
      ),
    );
    const harnessId = harness?.harnessId ?? "";
    const update = async (members: object) =>
      (await client.send(new UpdateHarnessCommand({ harnessId, ...members }))).harness;
    expect(
      await update({ allowedTools: ["c"], memory: { optionalValue: { disabled: {} } } }),
    ).toMatchObject({
      harnessVersion: "2",
      allowedTools: ["c"],
      memory: { disabled: {} },
      environmentArtifact: { containerConfiguration: container },
      maxTokens: 5,
    });
    const cleared = await update({ environmentArtifact: {}, memory: {} });
    expect(cleared).toMatchObject({ harnessVersion: "3", allowedTools: ["c"] });
    expect(cleared).not.toHaveProperty("environmentArtifact");
    expect(cleared).not.toHaveProperty("memory");
    await expect(
      update({ memory: { optionalValue: { disabled: {}, managedMemoryConfiguration: {} } } }),
    ).rejects.toMatchObject({ name: "ValidationException" });
  });

  it("A name that is in use is refused, also while its harness is DELETING", async () => {
    const { client, emulator } = await started({ clock: stillClock(), delays: { delete: 10_000 } });
    const id = await created(client);
    const taken = { name: "ConflictException", message: "Harness with name helper already exists" };
    await expect(created(client)).rejects.toMatchObject(taken);
    const deleted = await client.send(new DeleteHarnessCommand({ harnessId: id }));
    expect(deleted.harness).toMatchObject({ harnessId: id, status: "DELETING" });
    expect(await statusOf(client, id)).toBe("DELETING");
    expect(await endpointStatusOf(client, id)).toBe("DELETING");
    await expect(created(client)).rejects.toMatchObject(taken);
    await expect(client.send(new DeleteHarnessCommand({ harnessId: id }))).rejects.toMatchObject({
      name: "ConflictException",
    });
    await emulator.advance(10_000);
    await expect(statusOf(client, id)).rejects.toMatchObject({
      name: "ResourceNotFoundException",
      $metadata: { httpStatusCode: 404 },
    });
    expect(await created(client)).not.toBe(id);
  });

  it("Deleting a harness that is still CREATING is refused unless a switch allows it", async () => {
    const making = { clock: stillClock(), delays: { create: 10_000 } };
    const strict = await started(making);
    const first = new DeleteHarnessCommand({ harnessId: await created(strict.client) });
    await expect(strict.client.send(first)).rejects.toMatchObject({ name: "ConflictException" });
    const lenient = await started({ ...making, deleteWhileCreating: "accept" });
    const second = new DeleteHarnessCommand({ harnessId: await created(lenient.client) });
    expect((await lenient.client.send(second)).harness?.status).toBe("DELETING");
  });

  it("A request repeated with the same client token runs once", async () => {
    const { client } = await started();
    const create = (more: object = {}) =>
      client.send(
        new CreateHarnessCommand(harnessNamed("helper", { clientToken: TOKEN, ...more })),
      );
    const harnessId = (await create()).harness?.harnessId ?? "";
    const again = await create();
    expect(again).toMatchObject({
      $metadata: { httpStatusCode: 201 },
      harness: { harnessId, status: "READY" },
    });
    await expect(create({ maxTokens: 1 })).rejects.toMatchObject({
      name: "ValidationException",
      reason: "IdempotentParameterMismatchException",
    });
    const update = new UpdateHarnessCommand({ harnessId, clientToken: TOKEN, maxTokens: 9 });
    await client.send(update);
    expect((await client.send(update)).harness?.harnessVersion).toBe("2");
  });

  it("A client token expires after a day, or with the harness that it created", async () => {
    const { client, emulator } = await started({ clock: stillClock() });
    const create = new CreateHarnessCommand(harnessNamed("helper", { clientToken: TOKEN }));
    const harnessId = (await client.send(create)).harness?.harnessId ?? "";
    await client.send(new DeleteHarnessCommand({ harnessId }));
    const second = (await client.send(create)).harness?.harnessId ?? "";
    expect(second).not.toBe(harnessId);
    await emulator.advance(24 * 3600 * SECONDS);
    await expect(client.send(create)).rejects.toMatchObject({ name: "ConflictException" });
  });

  it("Harnesses are listed in pages, even if harnesses are created or deleted in between", async () => {
    const { client, emulator } = await started({ clock: stillClock() });
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      await emulator.advance(1);
      ids.push(await created(client, name));
    }
    const names: (string | undefined)[] = [];
    for await (const page of paginateListHarnesses({ client, pageSize: 2 }, {})) {
      names.push(...(page.harnesses ?? []).map(({ harnessName }) => harnessName));
      expect(page.harnesses?.length).toBeLessThanOrEqual(2);
      if (names.length === 2) {
        await client.send(new DeleteHarnessCommand({ harnessId: ids[0] }));
        await emulator.advance(1);
        await created(client, "f");
      }
    }
    expect(names).toEqual(["demo", "a", "b", "c", "d", "e", "f"]);
    const page = await client.send(new ListHarnessesCommand({ maxResults: 100 }));
    expect(page.nextToken).toBeUndefined();
    expect(page.harnesses?.[0]).toEqual({
      harnessId: "demo-spanline00",
      harnessName: "demo",
      arn: emulator.demoArn,
      status: "READY",
      harnessVersion: "1",
      createdAt: NOW,
      updatedAt: NOW,
    });
  });

  it.each([
    ["maxResults", { maxResults: 0 }],
    ["maxResults", { maxResults: 101 }],
    ["nextToken", { nextToken: "bm9uc2Vuc2U" }],
    ["nextToken", { nextToken: Buffer.from('["versions","x"]').toString("base64url") }],
  ])("A list request with an invalid %s is refused", async (name, members) => {
    const { client } = await started();
    await expect(client.send(new ListHarnessesCommand(members))).rejects.toMatchObject({
      name: "ValidationException",
      fieldList: [{ name, message: expect.any(String) }],
    });
  });

  it.each([
    [
      "harnessName",
      { harnessName: "with-dash" },
      "regular expression pattern: [a-zA-Z][a-zA-Z0-9_]{0,39}",
    ],
    ["harnessName", { harnessName: "x".repeat(41) }, "regular expression pattern"],
    ["harnessName", { harnessName: undefined }, "Member must not be null"],
    [
      "executionRoleArn",
      { executionRoleArn: ROLE.padEnd(2049, "x") },
      "less than or equal to 2048",
    ],
    ["executionRoleArn", { executionRoleArn: "role" }, "regular expression pattern: arn:aws"],
    ["clientToken", { clientToken: "short" }, "greater than or equal to 33"],
    ["clientToken", { clientToken: `-${TOKEN}` }, "regular expression pattern"],
    ["model", { model: {} }, "exactly one member"],
    ["allowedTools.2.member", { allowedTools: ["a", "a/b/c"] }, "regular expression pattern"],
    [
      "environmentVariables.K",
      { environmentVariables: { K: "x".repeat(5001) } },
      "length less than or equal to 5000",
    ],
    ["tags.a|b", { tags: { "a|b": "c" } }, "regular expression pattern"],
    [
      "environment.agentCoreRuntimeEnvironment.lifecycleConfiguration.maxLifetime",
      {
        environment: {
          agentCoreRuntimeEnvironment: { lifecycleConfiguration: { maxLifetime: 59 } },
        },
      },
      "value greater than or equal to 60",
    ],
  ])("A create request with an invalid %s is refused", async (name, members, words) => {
    const { client } = await started();
    const command = new CreateHarnessCommand(harnessNamed("helper", members as object));
    await expect(client.send(command)).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining("1 validation error detected: "),
      reason: "FieldValidationFailed",
      fieldList: [{ name, message: expect.stringContaining(words) }],
      $metadata: { httpStatusCode: 400 },
    });
  });

  it("A validation error lists all violations at once", async () => {
    const { client } = await started();
    const command = new CreateHarnessCommand({ harnessName: "-", executionRoleArn: "-" });
    await expect(client.send(command)).rejects.toMatchObject({
      message: expect.stringContaining("2 validation errors detected: "),
      fieldList: [{ name: "harnessName" }, { name: "executionRoleArn" }],
    });
  });

  it("An invalid harness id is a validation error, and an unknown one is not found", async () => {
    const { client } = await started();
    await expect(statusOf(client, "helper")).rejects.toMatchObject({ name: "ValidationException" });
    await expect(statusOf(client, "helper-0123456789")).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
  });

  it("Injected outcomes are used: failures with their reason, and unknown statuses", async () => {
    const { client, emulator } = await started();
    const fail = (change: "create" | "update" | "delete" | "endpoint", status: string) =>
      emulator.inject({
        harnessName: "helper",
        change,
        status,
        failureReason: `because ${change}`,
      });
    fail("create", "CREATE_FAILED");
    const harnessId = await created(client);
    const get = async () => (await client.send(new GetHarnessCommand({ harnessId }))).harness;
    expect(await get()).toMatchObject({ status: "CREATE_FAILED", failureReason: "because create" });
    expect(await endpointStatusOf(client, harnessId)).toBe("CREATE_FAILED");
    fail("delete", "DELETE_FAILED");
    await client.send(new DeleteHarnessCommand({ harnessId }));
    expect(await get()).toMatchObject({ status: "DELETE_FAILED", failureReason: "because delete" });
    await client.send(new DeleteHarnessCommand({ harnessId }));
    await expect(get()).rejects.toMatchObject({ name: "ResourceNotFoundException" });

    fail("create", "HIBERNATING");
    expect(await statusOf(client, await created(client))).toBe("HIBERNATING");
  });

  it("An endpoint can fail while its harness stays READY", async () => {
    const { client, emulator } = await started();
    const reason = { failureReason: "no network" };
    const endpoint = { harnessName: "helper", change: "endpoint", ...reason } as const;
    emulator.inject({ ...endpoint, status: "CREATE_FAILED" });
    const harnessId = await created(client);
    const get = async () =>
      (await client.send(new GetHarnessEndpointCommand({ harnessId, endpointName: "DEFAULT" })))
        .endpoint;
    expect(await statusOf(client, harnessId)).toBe("READY");
    const failed = await get();
    expect(failed).toMatchObject({ status: "CREATE_FAILED", targetVersion: "1", ...reason });
    expect(failed).not.toHaveProperty("liveVersion");
    await client.send(new UpdateHarnessCommand({ harnessId, maxTokens: 1 }));
    expect(await get()).toMatchObject({ status: "READY", liveVersion: "2" });
  });

  it("The previous version stays live after a failed update", async () => {
    const { client, emulator } = await started();
    const harnessId = await created(client);
    emulator.inject({
      harnessName: "helper",
      change: "update",
      status: "UPDATE_FAILED",
      failureReason: "no",
    });
    await client.send(new UpdateHarnessCommand({ harnessId, maxTokens: 1 }));
    const { harness } = await client.send(new GetHarnessCommand({ harnessId }));
    expect(harness).toMatchObject({
      status: "UPDATE_FAILED",
      failureReason: "no",
      harnessVersion: "1",
    });
    expect(harness).not.toHaveProperty("maxTokens");
    const { harnessVersions } = await client.send(new ListHarnessVersionsCommand({ harnessId }));
    expect(harnessVersions?.map(({ status }) => status)).toEqual(["UPDATE_FAILED", "READY"]);
    const retried = await client.send(new UpdateHarnessCommand({ harnessId, maxIterations: 2 }));
    expect(retried.harness).toMatchObject({ harnessVersion: "3", maxIterations: 2 });
    expect(retried.harness).not.toHaveProperty("maxTokens");
    const endpoint = await client.send(
      new GetHarnessEndpointCommand({ harnessId, endpointName: "DEFAULT" }),
    );
    expect(endpoint.endpoint).toMatchObject({ liveVersion: "3", targetVersion: "3" });
  });

  it("Endpoints can be created and deleted, except DEFAULT, up to ten per harness", async () => {
    const { client } = await started();
    const harnessId = await created(client);
    const create = (endpointName: string, more: object = {}) =>
      client.send(new CreateHarnessEndpointCommand({ harnessId, endpointName, ...more }));
    expect((await create("one")).$metadata.httpStatusCode).toBe(201);
    await expect(create("one")).rejects.toMatchObject({ name: "ConflictException" });
    await expect(create("DEFAULT")).rejects.toMatchObject({ name: "ConflictException" });
    await expect(create("two", { targetVersion: "2" })).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
    await expect(create("no-dash")).rejects.toMatchObject({ name: "ValidationException" });
    const named = (endpointName: string) => ({ harnessId, endpointName });
    const refused = { name: "ValidationException", reason: "ResourceConflict" };
    await expect(
      client.send(new UpdateHarnessEndpointCommand({ ...named("DEFAULT"), targetVersion: "1" })),
    ).rejects.toMatchObject(refused);
    await expect(
      client.send(new DeleteHarnessEndpointCommand(named("DEFAULT"))),
    ).rejects.toMatchObject(refused);
    const { endpoint } = await client.send(new DeleteHarnessEndpointCommand(named("one")));
    expect(endpoint).toMatchObject({ endpointName: "one", status: "DELETING" });
    await expect(endpointStatusOf(client, harnessId, "one")).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
    for (let count = 1; count < 10; count++) await create(`e${count}`);
    await expect(create("e10")).rejects.toMatchObject({
      name: "ServiceQuotaExceededException",
      $metadata: { httpStatusCode: 402 },
    });
    const first = await client.send(new ListHarnessEndpointsCommand({ harnessId, maxResults: 4 }));
    expect(first.endpoints).toHaveLength(4);
    const rest = new ListHarnessEndpointsCommand({ harnessId, nextToken: first.nextToken });
    expect((await client.send(rest)).endpoints).toHaveLength(6);
  });

  it("Tags of harnesses and endpoints can be listed and changed", async () => {
    const { client, emulator } = await started();
    const { harness } = await client.send(
      new CreateHarnessCommand(
        harnessNamed("helper", { tags: { a: "1", SPANLINE_BRAIN: "demo" } }),
      ),
    );
    const resourceArn = harness?.arn;
    await client.send(new TagResourceCommand({ resourceArn, tags: { b: "2" } }));
    await client.send(new UntagResourceCommand({ resourceArn, tagKeys: ["a", "none"] }));
    const { tags } = await client.send(new ListTagsForResourceCommand({ resourceArn }));
    expect(tags).toEqual({ SPANLINE_BRAIN: "demo", b: "2" });
    const record = emulator.registry.findHarness(
      resourceArn ?? "",
      undefined,
      emulator.clock.now(),
    );
    expect(record?.brain).toBe("demo");
    const endpointArn = `${resourceArn}/endpoint/DEFAULT`;
    await client.send(new TagResourceCommand({ resourceArn: endpointArn, tags: { c: "3" } }));
    expect(
      (await client.send(new ListTagsForResourceCommand({ resourceArn: endpointArn }))).tags,
    ).toEqual({ c: "3" });
    await expect(
      client.send(new ListTagsForResourceCommand({ resourceArn: `${resourceArn}x` })),
    ).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  it("The demo harness is READY from the start, even with delays", async () => {
    const { client, emulator } = await started({ delays: { create: 60_000 }, region: "eu-west-1" });
    expect(emulator.demoArn).toBe(
      "arn:aws:bedrock-agentcore:eu-west-1:123456789012:harness/demo-spanline00",
    );
    const { harness } = await client.send(new GetHarnessCommand({ harnessId: "demo-spanline00" }));
    expect(harness).toMatchObject({ arn: emulator.demoArn, status: "READY" });
    expect(
      emulator.registry.findHarness(emulator.demoArn, "DEFAULT", emulator.clock.now()),
    ).toMatchObject({
      brain: undefined,
      endpointStatus: "READY",
    });
  });
});
