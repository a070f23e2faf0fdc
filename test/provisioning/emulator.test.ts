import { GetHarnessCommand } from "@aws-sdk/client-bedrock-agentcore-control";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startTimeBudget } from "../../src/async/time-budget.ts";
import { startEmulator } from "../../src/emulator/start-emulator.ts";
import { TEST_CREDENTIALS, type EmulatorOptions } from "../../src/emulator/emulator-options.ts";
import { updateHarness } from "../../src/provisioning/update-harness.ts";
import { createControlClient } from "../../src/provisioning/control-client.ts";
import { createMemoryHandleStore } from "../../src/provisioning/handle-store.ts";
import { createHarnessCache } from "../../src/provisioning/harness-cache.ts";
import { provisionHarness } from "../../src/provisioning/provision-harness.ts";
import { planPrune, pruneHarnesses } from "../../src/provisioning/prune-harnesses.ts";
import { NO_REPORTER } from "../../src/provisioning/progress-reporter.ts";
import { startPoll } from "../../src/provisioning/poll.ts";
import { clientOf } from "../emulator/start-control-plane.ts";
import { createPacedClient, SPEC } from "../support/server/scripted-control-plane.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { catchRejection } from "../support/session/provider-session.ts";

const { signal } = new AbortController();

/** Loading the signer is slow, so it must not happen within a timed test. */
beforeAll(() => import("@smithy/signature-v4"));

/** Our client and an emulator which checks every signature, on the same clock. */
async function started(options: EmulatorOptions = {}) {
  const clock = createFakeClock();
  const emulator = await startEmulator({ signatures: "strict", clock, ...options });
  onTestFinished(() => emulator.close());
  const { send, settle } = createPacedClient(clock);
  const client = createControlClient({
    region: emulator.region,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
    send,
    clock,
    random: () => 0,
  });
  const budget = startTimeBudget(clock, signal, 3_600_000);
  const names = async (): Promise<string[]> => {
    const { items } = await settle(client.listHarnesses(budget));
    return items.map(({ name, status }) => `${name} ${status}`);
  };
  return { emulator, client, clock, settled: settle, budget, names };
}

const SLOW = { visible: 500, create: 11_000, endpointVisible: 12_000, endpoint: 151_000 };
const spec = { ...SPEC, name: "support" };

describe("Provisioning on the emulator", () => {
  it("A harness is provisioned with an MCP server that it authenticates to by its role", async () => {
    const { client, budget, settled } = await started();
    const tools = [
      { awsIam: { service: "execute-api", region: "eu-central-1" } },
      { none: {} },
    ].map((outboundAuth, at) => ({
      type: "remote_mcp",
      name: `notes_${at}`,
      config: { remoteMcp: { url: "https://example.com/mcp", outboundAuth } },
    }));
    const created = await settled(client.createHarness({ ...spec, tools }, budget));
    expect(created.raw["tools"]).toEqual(tools);
  });

  it("A harness is provisioned at the service's pace, and the AWS SDK sees it [RMA-P0-13, RMA-P1-12]", async () => {
    // The SDK signs with its own clock.
    const { emulator, client, clock, settled } = await started({
      delays: SLOW,
      signatures: "off",
    });
    const start = clock.now();
    const limits = { timeoutSeconds: 60, maxIterations: 3 };
    const { handle, origin } = await settled(
      provisionHarness({ ...spec, ...limits }, { client, signal }),
    );
    expect(origin).toBe("created");
    expect(clock.now() - start).toBeGreaterThanOrEqual(162_000);
    expect(clock.now() - start).toBeLessThan(170_000);
    const sdk = clientOf(emulator.url);
    const { harness } = await sdk.send(new GetHarnessCommand({ harnessId: handle.id }));
    sdk.destroy();
    expect(harness).toMatchObject({
      arn: handle.arn,
      harnessName: "support",
      status: "READY",
      systemPrompt: [{ text: SPEC.systemPrompt }],
      ...limits,
    });
  });

  it("A failed harness is reported in the service's words and deleted", async () => {
    const { emulator, client, settled, names } = await started({
      delays: { create: 2000, delete: 1000 },
    });
    const before = await names();
    const failure = { status: "CREATE_FAILED", failureReason: "The role cannot be assumed." };
    emulator.inject({ harnessName: "support", change: "create", ...failure });
    const error = await settled(catchRejection(provisionHarness(spec, { client, signal })));
    expect(error).toMatchObject({
      code: "harness_failed",
      details: { reason: "The role cannot be assumed.", status: "CREATE_FAILED" },
    });
    await emulator.advance(1000);
    expect(await names()).toEqual(before);
  });

  it("A failed endpoint removes its harness [RMA-P0-13]", async () => {
    const { emulator, client, settled } = await started();
    emulator.inject({ harnessName: "support", change: "endpoint", status: "CREATE_FAILED" });
    const error = await settled(catchRejection(provisionHarness(spec, { client, signal })));
    expect(error).toMatchObject({ code: "harness_failed", details: { phase: "endpoint" } });
  });

  it("A harness that is not ready in time is deleted as soon as the service allows it", async () => {
    const { client, settled, names } = await started({
      delays: { create: 20_000 },
      deleteWhileCreating: "409",
    });
    const before = await names();
    const error = await settled(
      catchRejection(provisionHarness(spec, { client, signal, timeout: 6000 })),
    );
    expect(error).toMatchObject({ code: "not_ready_in_time" });
    expect(await names()).toEqual(before);
  });

  it("Two concurrent requests for the same harness get the same one", async () => {
    const { client, settled, names } = await started({ delays: { create: 3000 } });
    const cache = createHarnessCache(client, createMemoryHandleStore());
    const other = createHarnessCache(client, createMemoryHandleStore());
    const both = await settled(
      Promise.all([cache.ensure(spec, { signal }), other.ensure(spec, { signal })]),
    );
    expect(new Set(both.map(({ handle }) => handle.id)).size).toBe(1);
    expect(both.map(({ origin }) => origin).sort()).toEqual(["adopted", "created"]);
    expect((await names()).filter((name) => name.startsWith("support_"))).toHaveLength(1);
  });

  it("A name that is being deleted is waited for", async () => {
    const { client, settled, budget } = await started({ delays: { delete: 30_000 } });
    const first = await settled(provisionHarness(spec, { client, signal }));
    await settled(client.deleteHarness(first.handle.id, budget));
    const second = await settled(provisionHarness(spec, { client, signal }));
    expect(second.origin).toBe("created");
    expect(second.handle.id).not.toBe(first.handle.id);
  });

  it("A harness gets the requested endpoint, which does not follow an update", async () => {
    const { client, settled, budget } = await started({ delays: { update: 1000, endpoint: 500 } });
    const { handle } = await settled(provisionHarness(spec, { client, signal, endpoint: "prod" }));
    const waiting = startPoll({ client, signal });
    const harness = await settled(updateHarness(waiting, handle.id, { systemPrompt: "Be long." }));
    waiting.budget.release();
    expect(harness.version).toBe("2");
    const { items } = await settled(client.listEndpoints(handle.id, budget));
    expect(
      items.map(({ name, status, liveVersion }) => `${name} ${status} ${liveVersion}`).sort(),
    ).toEqual(["DEFAULT READY 2", "prod READY 1"]);
    const versions = await settled(client.listVersions(handle.id, budget));
    expect(versions.items.map(({ version }) => version)).toEqual(["2", "1"]);
    const moved = { name: "prod", changes: { version: "2" } };
    expect(await settled(client.updateEndpoint(handle.id, moved, budget))).toMatchObject({
      status: "UPDATING",
      targetVersion: "2",
    });
  });

  it("An adopted harness lists its differences from the spec", async () => {
    const { client, settled } = await started();
    await settled(provisionHarness(spec, { client, signal }));
    const other = { ...spec, systemPrompt: "Be long.", maxTokens: 5 };
    const { origin, differences } = await settled(provisionHarness(other, { client, signal }));
    expect({ origin, differences }).toEqual({
      origin: "adopted",
      differences: ["systemPrompt", "maxTokens"],
    });
    const same = await settled(provisionHarness(spec, { client, signal }));
    expect(same.differences).toEqual([]);
  });

  it("A list has several pages, and prune reads all of them [RMA-P1-8]", async () => {
    const { client, clock, settled, budget, names } = await started();
    const numbers = Array.from({ length: 130 }, (_, at) => at);
    for (const at of numbers) {
      clock.advance(1000);
      const name = `pruned_${at.toString(16).padStart(8, "0")}`;
      await settled(client.createHarness({ ...spec, name }, budget));
    }
    const cache = createHarnessCache(client, createMemoryHandleStore());
    await cache.setTag("pruned", "live", "pruned_00000000");
    const caller = { client, budget, report: NO_REPORTER };
    const plan = await settled(planPrune({ base: "pruned", keep: 2 }, caller, cache));
    expect(plan.harnessesToDelete).toHaveLength(127);
    const { deleted, failed } = await settled(pruneHarnesses(plan, caller, cache));
    expect([deleted.length, failed.length]).toEqual([127, 0]);
    expect((await names()).filter((name) => name.startsWith("pruned")).sort()).toEqual([
      "pruned_00000000 READY",
      "pruned_00000080 READY",
      "pruned_00000081 READY",
    ]);
  });

  it("A wrong signature is refused as on the data plane [RMA-P2-8]", async () => {
    const { emulator, budget } = await started();
    const credentials = { accessKeyId: "test", secretAccessKey: "wrong" };
    const client = createControlClient({
      region: emulator.region,
      endpoint: emulator.url,
      credentials,
    });
    expect(await catchRejection(client.listHarnesses(budget))).toMatchObject({
      code: "access_denied",
    });
  });
});
