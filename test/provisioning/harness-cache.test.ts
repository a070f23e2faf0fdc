import { describe, expect, it } from "vitest";
import { createContentName } from "../../src/provisioning/content-name.ts";
import { createMemoryHandleStore } from "../../src/provisioning/handle-store.ts";
import { createHarnessCache, type HarnessCache } from "../../src/provisioning/harness-cache.ts";
import { planPrune, pruneHarnesses } from "../../src/provisioning/prune-harnesses.ts";
import { NO_REPORTER } from "../../src/provisioning/progress-reporter.ts";
import {
  ARN,
  createEndpointMembers,
  createHarnessMembers,
  createRefusal,
  startScriptedControlPlane,
  SPEC,
  type ScriptedControlPlane,
} from "../support/server/scripted-control-plane.ts";
import { catchRejection } from "../support/session/provider-session.ts";

const { signal } = new AbortController();
const NAME = createContentName(SPEC);

/** A service which stores created harnesses by name. */
async function living(): Promise<ScriptedControlPlane & { readonly there: Map<string, object> }> {
  const there = new Map<string, object>();
  const plane = await startScriptedControlPlane(({ method, path, body }) => {
    const [, , id = "", , endpoint] = path.split("/");
    if (method === "POST") {
      const { harnessName } = body as { harnessName: string };
      const harnessId = `${harnessName}-a1b2c3d4e5`;
      const members = createHarnessMembers("READY", { harnessName, harnessId });
      there.set(harnessId, members);
      return { status: 201, body: { harness: members } };
    }
    if (path === "/harnesses") return { body: { harnesses: [...there.values()] } };
    const members = there.get(id);
    if (members === undefined) return createRefusal(404, "ResourceNotFoundException");
    if (method === "DELETE") {
      there.delete(id);
      return { body: { harness: { ...members, status: "DELETING" } } };
    }
    if (endpoint !== undefined) return { body: { endpoint: createEndpointMembers("READY") } };
    return { body: { harness: members } };
  });
  return { ...plane, there };
}

const creations = ({ requests }: ScriptedControlPlane): number =>
  requests.filter(({ method }) => method === "POST").length;

describe("Harnesses by content", () => {
  it("A harness is created once and found afterwards [RMA-P0-12]", async () => {
    const plane = await living();
    const store = createMemoryHandleStore();
    const first = await plane.settle(
      createHarnessCache(plane.client, store).ensure(SPEC, { signal }),
    );
    const handle = { arn: ARN, id: `${NAME}-a1b2c3d4e5`, name: NAME, endpoint: "DEFAULT" };
    expect(first).toEqual({ handle, origin: "created" });
    const other = createHarnessCache(plane.client, store);
    expect(await plane.settle(other.ensure(SPEC, { signal }))).toEqual({
      handle,
      origin: "remembered",
    });
    expect(creations(plane)).toBe(1);
  });

  it("Every process verifies a remembered harness once [RMA-P1-26]", async () => {
    const plane = await living();
    const store = createMemoryHandleStore();
    await plane.settle(createHarnessCache(plane.client, store).ensure(SPEC, { signal }));
    const before = plane.requests.length;
    const other = createHarnessCache(plane.client, store);
    await plane.settle(other.ensure(SPEC, { signal }));
    const looked = plane.requests.length;
    expect(looked).toBeGreaterThan(before);
    await plane.settle(other.ensure(SPEC, { signal }));
    expect(plane.requests.length).toBe(looked);
  });

  it("A harness that was deleted elsewhere is created again [RMA-P1-26]", async () => {
    const plane = await living();
    const store = createMemoryHandleStore();
    await plane.settle(createHarnessCache(plane.client, store).ensure(SPEC, { signal }));
    plane.there.clear();
    const again = await plane.settle(
      createHarnessCache(plane.client, store).ensure(SPEC, { signal }),
    );
    expect(again.origin).toBe("created");
    expect(creations(plane)).toBe(2);
  });

  it("A harness that is being deleted is not used [RMA-P1-26]", async () => {
    const plane = await living();
    const store = createMemoryHandleStore();
    await plane.settle(createHarnessCache(plane.client, store).ensure(SPEC, { signal }));
    for (const [id, members] of plane.there)
      plane.there.set(id, { ...members, status: "DELETING" });
    await plane.settle(createHarnessCache(plane.client, store).ensure(SPEC, { signal }));
    expect(creations(plane)).toBe(2);
  });

  it("Another spec gets another harness, and handles are not shared between endpoints", async () => {
    const [here, there] = [await living(), await living()];
    const store = createMemoryHandleStore();
    const cache = createHarnessCache(here.client, store);
    await here.settle(cache.ensure(SPEC, { signal }));
    await here.settle(cache.ensure({ ...SPEC, systemPrompt: "Be long." }, { signal }));
    await there.settle(createHarnessCache(there.client, store).ensure(SPEC, { signal }));
    expect([creations(here), creations(there)]).toEqual([2, 1]);
  });

  it("A failed harness is not remembered", async () => {
    const plane = await startScriptedControlPlane(() =>
      createRefusal(403, "AccessDeniedException"),
    );
    const store = createMemoryHandleStore();
    const cache = createHarnessCache(plane.client, store);
    await plane.settle(catchRejection(cache.ensure(SPEC, { signal })));
    expect(await store.getHandle(`${plane.client.origin} ${NAME}`)).toBeNull();
  });

  it("A harness that cannot be remembered is returned with a warning", async () => {
    const plane = await living();
    const broken = {
      ...createMemoryHandleStore(),
      putHandle: () => Promise.reject(new Error("disk full")),
    };
    const warnings: string[] = [];
    const report = { ...NO_REPORTER, warn: (message: string) => void warnings.push(message) };
    const cache = createHarnessCache(plane.client, broken);
    const { origin } = await plane.settle(cache.ensure(SPEC, { signal, report }));
    expect(origin).toBe("created");
    expect(warnings).toEqual([`Harness ${NAME} exists, but could not be stored: disk full`]);
  });
});

describe("Tags", () => {
  async function tagged(): Promise<{ plane: ScriptedControlPlane; cache: HarnessCache }> {
    const plane = await living();
    const cache = createHarnessCache(plane.client, createMemoryHandleStore());
    await plane.settle(cache.ensure(SPEC, { signal }));
    await cache.setTag("demo", "live", NAME);
    return { plane, cache };
  }

  it("A tag refers to a harness and can be moved", async () => {
    const { plane, cache } = await tagged();
    expect((await cache.resolveTag("demo:live")).name).toBe(NAME);
    const changed = { ...SPEC, systemPrompt: "Be long." };
    const { handle } = await plane.settle(cache.ensure(changed, { signal }));
    await cache.setTag("demo", "live", handle.name);
    expect(await cache.resolveTag("demo:live")).toEqual(handle);
  });

  it("An unknown tag, and a tag of an unknown harness, have their own errors", async () => {
    const { cache } = await tagged();
    expect(await catchRejection(cache.resolveTag("demo:lvie"))).toMatchObject({
      code: "unknown_tag",
      message: expect.stringMatching(
        /^Harness tag "demo:lvie" does not exist: expected .*"demo:live".*Fix: did you mean "demo:live"\?$/,
      ),
    });
    await cache.forget(NAME);
    expect(await catchRejection(cache.resolveTag("demo:live"))).toMatchObject({
      code: "unknown_tag",
      message: expect.stringContaining("is unknown"),
    });
    expect(await catchRejection(cache.resolveTag("demo"))).toMatchObject({
      code: "invalid_option",
    });
  });

  it("A tag is refused for a harness of another base and for invalid characters", async () => {
    const { cache } = await tagged();
    expect(await catchRejection(cache.setTag("other", "live", NAME))).toMatchObject({
      code: "invalid_option",
    });
    expect(await catchRejection(cache.setTag("demo", "a:b", NAME))).toMatchObject({
      code: "invalid_option",
    });
  });
});

describe("prune", () => {
  const member = (digest: string, day: number, more: object = {}) => ({
    ...createHarnessMembers("READY"),
    harnessName: `demo_${digest}`,
    harnessId: `demo_${digest}-a1b2c3d4e5`,
    createdAt: `2026-11-${String(day).padStart(2, "0")}T00:00:00Z`,
    ...more,
  });
  const strangers = ["demo", "demo_x_00000001", "demo_0000000", "demonstration_00000001"].map(
    (harnessName) => member("00000000", 1, { harnessName, harnessId: `${harnessName}-a1b2c3d4e5` }),
  );
  const members = [
    member("00000003", 3),
    member("00000001", 1),
    member("00000005", 5, { status: "CREATE_FAILED" }),
    member("00000002", 2),
    member("00000004", 4),
    member("00000006", 6, { status: "DELETING" }),
  ];

  async function pruning(failing: readonly string[] = []) {
    const plane = await startScriptedControlPlane(({ method, path, query }) => {
      if (method === "DELETE") {
        return failing.some((name) => path.includes(name))
          ? createRefusal(403, "AccessDeniedException")
          : { body: {} };
      }
      return query.has("nextToken")
        ? { body: { harnesses: members.slice(3) } }
        : { body: { harnesses: [...strangers, ...members.slice(0, 3)], nextToken: "2" } };
    });
    const cache = createHarnessCache(plane.client, createMemoryHandleStore());
    const caller = { client: plane.client, budget: plane.budget(60_000), report: NO_REPORTER };
    return { plane, cache, caller };
  }
  const names = (harnesses: readonly { readonly name: string }[]): string[] =>
    harnesses.map(({ name }) => name);

  it("prune keeps the newest and the tagged harnesses of its base only, over all pages [RMA-P1-8]", async () => {
    const { cache, caller } = await pruning();
    await cache.setTag("demo", "live", "demo_00000001");
    const plan = await planPrune({ base: "demo", keep: 2 }, caller, cache);
    expect(names(plan.keptHarnesses)).toEqual(["demo_00000005", "demo_00000004", "demo_00000001"]);
    expect(names(plan.harnessesToDelete)).toEqual(["demo_00000002", "demo_00000003"]);
  });

  it("prune deletes the oldest first and reports failures", async () => {
    const { plane, cache, caller } = await pruning(["00000002"]);
    const plan = await planPrune({ base: "demo", keep: 1 }, caller, cache);
    const { deleted, failed } = await plane.settle(pruneHarnesses(plan, caller, cache));
    expect(names(deleted)).toEqual(["demo_00000001", "demo_00000003", "demo_00000004"]);
    expect(failed.map(({ harness, error }) => [harness.name, error.message])).toEqual([
      ["demo_00000002", "AccessDeniedException: no"],
    ]);
  });

  it.each([0, -1, 1.5])("prune refuses to keep %d harnesses", async (keep) => {
    const { plane, cache, caller } = await pruning();
    const error = await catchRejection(planPrune({ base: "demo", keep }, caller, cache));
    expect(error).toMatchObject({ code: "invalid_option", details: { path: "keep" } });
    expect(plane.requests).toEqual([]);
  });
});
