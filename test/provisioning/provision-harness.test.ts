import { describe, expect, it } from "vitest";
import {
  AbortError,
  AccessDeniedError,
  ThrottledError,
} from "../../src/domain/provider/provider-error.ts";
import {
  provisionHarness,
  type ProvisionResult,
} from "../../src/provisioning/provision-harness.ts";
import {
  HarnessDeletingError,
  HarnessFailedError,
  NameTakenError,
  NotReadyInTimeError,
  StillDeletingError,
  UnknownStatusError,
  type WaitContext,
} from "../../src/provisioning/wait-errors.ts";
import {
  ARN,
  createEndpointMembers,
  createHarnessMembers,
  ID,
  formatRequests,
  createRefusal,
  startScriptedControlPlane,
  SPEC,
  type ControlRequest,
  type ControlReply,
  type ScriptedControlPlane,
} from "../support/server/scripted-control-plane.ts";
import { catchRejection } from "../support/session/provider-session.ts";

type ScriptedReply = ControlReply | "hang" | "reset";

/** Responses of the service by request; the last response of a list is repeated. */
interface Script {
  readonly create?: readonly ScriptedReply[];
  readonly harness?: readonly ScriptedReply[];
  readonly endpoint?: readonly ScriptedReply[];
  readonly createEndpoint?: readonly ScriptedReply[];
  readonly list?: readonly ScriptedReply[];
  readonly delete?: readonly ScriptedReply[];
}

const missing = createRefusal(404, "ResourceNotFoundException");
const conflict = createRefusal(409, "ConflictException");
const harness = (status: string, more?: object): ControlReply => ({
  body: { harness: createHarnessMembers(status, more) },
});
const endpoint = (status: string, more?: object): ControlReply => ({
  body: { endpoint: createEndpointMembers(status, more) },
});
const listed = (...harnesses: readonly object[]): ControlReply => ({ body: { harnesses } });

function planeOf(script: Script): Promise<ScriptedControlPlane> {
  const remainingReplies = new Map<keyof Script, ScriptedReply[]>();
  const next = (name: keyof Script, otherwise: ScriptedReply): ScriptedReply => {
    const replies = remainingReplies.get(name) ?? [...(script[name] ?? [otherwise])];
    remainingReplies.set(name, replies);
    return (replies.length > 1 ? replies.shift() : replies[0]) ?? otherwise;
  };
  return startScriptedControlPlane(({ method, path }: ControlRequest) => {
    if (method === "DELETE") return next("delete", harness("DELETING"));
    if (method === "POST") {
      return path === "/harnesses"
        ? next("create", harness("CREATING"))
        : next("createEndpoint", endpoint("CREATING"));
    }
    if (path === "/harnesses") return next("list", listed());
    if (path.includes("/endpoints/")) return next("endpoint", endpoint("READY"));
    return next("harness", harness("READY"));
  });
}

interface Tried {
  readonly plane: ScriptedControlPlane;
  readonly waitContexts: WaitContext[];
  readonly warnings: string[];
}

interface Wishes {
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  readonly endpoint?: string;
}

async function trying(script: Script, wishes: Wishes = {}) {
  const plane = await planeOf(script);
  const waitContexts: WaitContext[] = [];
  const warnings: string[] = [];
  const { signal = new AbortController().signal, timeout = 12_000, ...more } = wishes;
  const report = {
    reportProgress: (context: WaitContext) => void waitContexts.push(context),
    warn: (message: string) => void warnings.push(message),
  };
  const attempt = provisionHarness(SPEC, {
    client: plane.client,
    signal,
    timeout,
    report,
    ...more,
  });
  return { tried: { plane, waitContexts, warnings }, attempt };
}

async function provisioned(
  script: Script,
  wishes?: Wishes,
): Promise<Tried & { result: ProvisionResult }> {
  const { tried, attempt } = await trying(script, wishes);
  const result = await tried.plane.settle(attempt);
  expect(tried.plane.clock.pending).toBe(0);
  return { ...tried, result };
}

async function refused(script: Script, wishes?: Wishes): Promise<Tried & { error: unknown }> {
  const { tried, attempt } = await trying(script, wishes);
  const error = await tried.plane.settle(catchRejection(attempt));
  expect(tried.plane.clock.pending).toBe(0);
  return { ...tried, error };
}

const deletions = ({ requests }: ScriptedControlPlane): string[] =>
  formatRequests(requests).filter((question) => question.startsWith("DELETE"));
const polls = ({ requests }: ScriptedControlPlane, path: string): number[] =>
  requests.filter((one) => one.method === "GET" && one.path === path).map(({ at }) => at);

const HARNESS_PATH = `/harnesses/${ID}`;
const ENDPOINT_PATH = `/harnesses/${ID}/endpoints/DEFAULT`;

describe("Created harnesses", () => {
  it("Provisioning ends when the harness and its endpoint are ready [RMA-P0-13]", async () => {
    const { plane, result, waitContexts } = await provisioned({
      harness: [harness("CREATING"), harness("READY")],
      endpoint: [missing, endpoint("CREATING"), endpoint("READY")],
    });
    expect(result).toMatchObject({
      handle: { arn: ARN, id: ID, name: "demo", endpoint: "DEFAULT" },
      origin: "created",
      differences: [],
    });
    expect(polls(plane, HARNESS_PATH)).toEqual([0, 1000]);
    expect(polls(plane, ENDPOINT_PATH)).toEqual([1000, 2000, 3000]);
    expect(
      waitContexts.map(({ phase, status, elapsed, polls: count }) => [
        phase,
        status,
        elapsed,
        count,
      ]),
    ).toEqual([
      ["create", null, 0, 0],
      ["harness", "CREATING", 0, 1],
      ["harness", "READY", 1000, 2],
      ["endpoint", null, 1000, 1],
      ["endpoint", "CREATING", 2000, 2],
      ["endpoint", "READY", 3000, 3],
    ]);
  });

  it("A new harness may not be found at first [RMA-P1-12]", async () => {
    const { result, plane } = await provisioned({
      harness: [missing, missing, missing, missing, harness("READY")],
    });
    expect(result.origin).toBe("created");
    expect(polls(plane, HARNESS_PATH)).toHaveLength(5);
  });

  it("Any number of transient failures is tolerated [RMA-P1-12]", async () => {
    const failures = Array.from({ length: 9 }, () => createRefusal(500, "InternalServerException"));
    const { plane } = await provisioned({
      harness: [...failures, "reset", harness("CREATING"), harness("READY")],
    });
    expect(deletions(plane)).toEqual([]);
  });

  it("A stale read does not count as a deletion [RMA-P1-12]", async () => {
    const { plane } = await provisioned({
      harness: [harness("CREATING"), missing, missing, harness("CREATING"), harness("READY")],
    });
    expect(deletions(plane)).toEqual([]);
  });

  it("Provisioning waits until the endpoint serves its target version", async () => {
    const behind = endpoint("READY", { liveVersion: "1", targetVersion: "2" });
    const { plane } = await provisioned({
      endpoint: [behind, endpoint("READY", { liveVersion: "2", targetVersion: "2" })],
    });
    expect(polls(plane, ENDPOINT_PATH)).toHaveLength(2);
  });

  it("The requested endpoint is created if it is missing [RMA-P0-13]", async () => {
    const { plane, result } = await provisioned(
      { endpoint: [missing, endpoint("CREATING"), endpoint("READY")] },
      { endpoint: "prod" },
    );
    expect(result.handle.endpoint).toBe("prod");
    expect(formatRequests(plane.requests)).toEqual([
      "POST /harnesses",
      `GET ${HARNESS_PATH}`,
      `GET ${HARNESS_PATH}/endpoints/prod`,
      `POST ${HARNESS_PATH}/endpoints`,
      `GET ${HARNESS_PATH}/endpoints/prod`,
      `GET ${HARNESS_PATH}/endpoints/prod`,
    ]);
  });

  it("An invalid endpoint name and a missing role are refused before anything is created [RMA-P0-13]", async () => {
    const { client, requests } = await planeOf({});
    const { signal } = new AbortController();
    const options = { client, signal };
    const wrong = [
      () => provisionHarness(SPEC, { ...options, endpoint: "not-a-name" }),
      () => provisionHarness(SPEC, { ...options, endpoint: "a".repeat(49) }),
      () => provisionHarness({ ...SPEC, roleArn: " " }, options),
      () => provisionHarness({ ...SPEC, name: "" }, options),
      () => provisionHarness(SPEC, { ...options, timeout: -1 }),
      () => provisionHarness(SPEC, { ...options, timeout: Infinity }),
      () => provisionHarness(SPEC, { ...options, interval: 0 }),
    ];
    for (const attempt of wrong) {
      expect(await catchRejection(attempt())).toMatchObject({ code: "invalid_option" });
    }
    expect(requests).toEqual([]);
  });
});

describe("Harnesses that do not become ready", () => {
  it.each([
    ["CREATE_FAILED", HarnessFailedError, "harness_failed"],
    ["UPDATE_FAILED", HarnessFailedError, "harness_failed"],
    ["DELETING", HarnessDeletingError, "harness_deleting"],
    ["HIBERNATING", UnknownStatusError, "unknown_status"],
  ])("A harness that is %s has its own error and is deleted", async (status, expected, code) => {
    const failed = harness(status, { failureReason: "no such image" });
    const { error, plane } = await refused({ harness: [harness("CREATING"), failed] });
    expect(error).toBeInstanceOf(expected);
    expect(error).toMatchObject({
      code,
      wait: { harness: ID, phase: "harness", status, elapsed: 1000, polls: 2 },
    });
    expect(deletions(plane)).toEqual([`DELETE ${HARNESS_PATH}`]);
  });

  it("The error contains the reason in the service's words", async () => {
    const { error } = await refused({
      harness: [harness("CREATE_FAILED", { failureReason: "no such image" })],
    });
    expect(error).toMatchObject({
      message: `Harness ${ID} is CREATE_FAILED: no such image (1 poll, after 0 s)`,
      details: { reason: "no such image", harness: ID, phase: "harness", status: "CREATE_FAILED" },
    });
  });

  it("The error of a failed endpoint names the endpoint [RMA-P0-13]", async () => {
    const { error, plane } = await refused({
      endpoint: [endpoint("CREATE_FAILED", { failureReason: "no capacity" })],
    });
    expect(error).toBeInstanceOf(HarnessFailedError);
    expect(error).toMatchObject({
      wait: { phase: "endpoint" },
      message: expect.stringContaining(
        `The endpoint of harness ${ID} is CREATE_FAILED: no capacity`,
      ),
    });
    expect(deletions(plane)).toEqual([`DELETE ${HARNESS_PATH}`]);
  });

  it("A harness without a status fails at once", async () => {
    const { error } = await refused({ harness: [harness("CREATING", { status: null })] });
    expect(error).toBeInstanceOf(UnknownStatusError);
  });

  it("A harness deleted elsewhere counts as deleted after three reads", async () => {
    const { error, plane } = await refused({ harness: [harness("CREATING"), missing] });
    expect(error).toBeInstanceOf(HarnessDeletingError);
    expect(polls(plane, HARNESS_PATH)).toHaveLength(4);
  });

  it("Polling stops when the next interval would exceed the budget [RMA-P1-13]", async () => {
    const { error, plane } = await refused({ harness: [harness("CREATING")] }, { timeout: 6_000 });
    expect(error).toBeInstanceOf(NotReadyInTimeError);
    expect(error).toMatchObject({
      code: "not_ready_in_time",
      wait: { harness: ID, phase: "harness", status: "CREATING", elapsed: 5500, polls: 12 },
    });
    expect(deletions(plane)).toEqual([`DELETE ${HARNESS_PATH}`]);
  });

  it.each([
    [300, 50],
    [600, 50],
    [24_000, 2000],
    [600_000, 5000],
  ])("A budget of %i ms polls every %i ms", async (timeout, interval) => {
    const { plane } = await refused({ harness: [harness("CREATING")] }, { timeout });
    const [first = 0, second = 0] = polls(plane, HARNESS_PATH);
    expect(second - first).toBe(interval);
  });

  it("Harness and endpoint share one budget [RMA-P1-13]", async () => {
    const creating = Array.from({ length: 8 }, () => harness("CREATING"));
    const { error } = await refused({
      harness: [...creating, harness("READY")],
      endpoint: [endpoint("CREATING")],
    });
    expect(error).toMatchObject({ wait: { phase: "endpoint", elapsed: 11_000, polls: 4 } });
  });

  it("A service that does not answer ends with the budget, connections and delays included [RMA-P1-13]", async () => {
    const { error } = await refused({ harness: ["hang"] }, { timeout: 5000 });
    expect(error).toBeInstanceOf(NotReadyInTimeError);
    const { wait } = error as NotReadyInTimeError;
    expect(wait.elapsed).toBeLessThanOrEqual(5000);
    expect(wait.status).toBeNull();
  });

  it("The error has the last failure if failures used up the time", async () => {
    const { error } = await refused({
      harness: [createRefusal(503, "ServiceUnavailableException")],
    });
    expect(error).toMatchObject({
      code: "not_ready_in_time",
      message: expect.stringContaining("last seen: nothing (ServiceUnavailableException: no)"),
      cause: { code: "service_failed" },
    });
  });

  it("retry-after delays the next read, and an excessive value is limited", async () => {
    const wish = (seconds: string) =>
      createRefusal(429, "ThrottlingException", { "retry-after": seconds });
    const { error, plane } = await refused({ harness: [wish("1000000000")] });
    expect(error).toMatchObject({ code: "not_ready_in_time" });
    const [first = 0, second = 0] = polls(plane, HARNESS_PATH);
    expect(second - first).toBe(6000);
  });

  it("A refused read fails at once, and the harness is deleted", async () => {
    const { error, plane } = await refused({
      harness: [createRefusal(403, "AccessDeniedException")],
    });
    expect(error).toBeInstanceOf(AccessDeniedError);
    expect(deletions(plane)).toEqual([`DELETE ${HARNESS_PATH}`]);
  });
});

describe("Failed creations", () => {
  it("A refused creation leaves nothing to delete", async () => {
    const { error, plane } = await refused({ create: [createRefusal(429, "ThrottlingException")] });
    expect(error).toBeInstanceOf(ThrottledError);
    expect(formatRequests(plane.requests)).toEqual(["POST /harnesses"]);
  });

  it.each(["reset" as const, createRefusal(500, "InternalServerException")])(
    "A creation that ends with %j may have succeeded, and its harness is found by name",
    async (answer) => {
      const { result, plane } = await provisioned({
        create: [answer],
        list: [listed(createHarnessMembers("CREATING"))],
      });
      expect(result.origin).toBe("adopted");
      expect(
        formatRequests(plane.requests).filter((question) => question.startsWith("POST")),
      ).toHaveLength(1);
    },
  );

  it.each([
    ["is empty", listed()],
    ["is refused", createRefusal(403, "AccessDeniedException")],
  ] as const)(
    "A lost creation fails with its own error if the list of harnesses %s",
    async (_, list) => {
      const { error } = await refused({ create: ["reset"], list: [list] });
      expect(error).toMatchObject({ code: "connection_lost" });
    },
  );

  it("A creation without a response ends with the budget [RMA-P1-13]", async () => {
    const { error, warnings } = await refused({ create: ["hang"] }, { timeout: 3000 });
    expect(error).toMatchObject({
      code: "not_ready_in_time",
      wait: { harness: "demo", phase: "create", elapsed: 3000 },
    });
    expect(warnings).toEqual([
      "Harness demo could not be deleted and remains: no response confirms whether, and with which id, it was created",
    ]);
  });

  it("A creation whose response has no id is not deleted by name, because the name may belong to another [RMA-P2-8]", async () => {
    const { error, plane } = await refused({
      create: [{ status: 201, body: { harness: { harnessName: "demo" } } }],
      list: [listed(createHarnessMembers("CREATING"))],
    });
    expect(error).toMatchObject({ code: "unexpected_answer" });
    expect(deletions(plane)).toEqual([]);
  });
});

describe("Names that are in use", () => {
  it.each(["READY", "CREATING", "UPDATING"])(
    "An existing harness that is %s is adopted",
    async (status) => {
      const other = createHarnessMembers("READY", {
        harnessId: "demo_2-a1b2c3d4e5",
        harnessName: "demo_2",
      });
      const { result, plane } = await provisioned({
        create: [conflict],
        list: [
          { body: { harnesses: [other], nextToken: "2" } },
          listed(createHarnessMembers(status)),
        ],
        harness: [harness("CREATING"), harness("READY")],
      });
      expect(result).toMatchObject({ handle: { id: ID }, origin: "adopted" });
      expect(plane.requests.filter(({ path }) => path === "/harnesses")).toHaveLength(3);
    },
  );

  it("An adopted harness lists its differences from the spec", async () => {
    const members = { executionRoleArn: SPEC.roleArn, systemPrompt: [{ text: "Be long." }] };
    const { result } = await provisioned({
      create: [conflict],
      list: [listed(createHarnessMembers("READY"))],
      harness: [harness("READY", members)],
    });
    expect(result.differences).toEqual(["systemPrompt"]);
  });

  it("An adopted harness that fails later is an error and is not deleted", async () => {
    const { error, plane } = await refused({
      create: [conflict],
      list: [listed(createHarnessMembers("CREATING"))],
      harness: [harness("CREATE_FAILED")],
    });
    expect(error).toBeInstanceOf(HarnessFailedError);
    expect(deletions(plane)).toEqual([]);
  });

  it("An endpoint created for an adopted harness is deleted on failure, and the harness is kept", async () => {
    const { plane } = await refused(
      {
        create: [conflict],
        list: [listed(createHarnessMembers("READY"))],
        endpoint: [missing, endpoint("CREATE_FAILED")],
      },
      { endpoint: "prod" },
    );
    expect(deletions(plane)).toEqual([`DELETE ${HARNESS_PATH}/endpoints/prod`]);
  });

  it.each([
    ["CREATE_FAILED", listed(createHarnessMembers("CREATE_FAILED")), "it is CREATE_FAILED"],
    [
      "without a status",
      listed(createHarnessMembers("READY", { status: null })),
      "without a status",
    ],
    ["not in the list", listed(), "no harness with this name can be found"],
  ])("An existing harness that is %s is a conflict", async (_, list, words) => {
    const { error, plane } = await refused({ create: [conflict], list: [list] });
    expect(error).toBeInstanceOf(NameTakenError);
    expect(error).toMatchObject({
      message: expect.stringContaining(words),
      cause: { code: "conflict" },
    });
    expect(deletions(plane)).toEqual([]);
  });

  it("The name of a harness that is being deleted is reused after the deletion", async () => {
    const { result, plane } = await provisioned({
      create: [conflict, harness("CREATING")],
      list: [
        listed(createHarnessMembers("DELETING")),
        listed(createHarnessMembers("DELETING")),
        createRefusal(500, "InternalServerException"),
        listed(),
      ],
    });
    expect(result.origin).toBe("created");
    const created = plane.requests.filter(({ method }) => method === "POST");
    expect(created).toHaveLength(2);
    expect(created[1]?.at).toBeGreaterThanOrEqual(1000);
  });

  it("A deletion that never ends is an error after one creation attempt", async () => {
    const { error, plane } = await refused({
      create: [conflict],
      list: [listed(createHarnessMembers("DELETING"))],
    });
    expect(error).toBeInstanceOf(StillDeletingError);
    expect(error).toMatchObject({
      wait: { phase: "deletion", status: "DELETING", elapsed: 11_000 },
    });
    expect(
      formatRequests(plane.requests).filter((question) => question.startsWith("POST")),
    ).toHaveLength(1);
    expect(deletions(plane)).toEqual([]);
  });

  it("A failed deletion of the existing harness is reported", async () => {
    const { error } = await refused({
      create: [conflict],
      list: [
        listed(createHarnessMembers("DELETING")),
        listed(createHarnessMembers("DELETE_FAILED")),
      ],
    });
    expect(error).toBeInstanceOf(StillDeletingError);
    expect(error).toMatchObject({ wait: { status: "DELETE_FAILED" } });
  });

  it("Creation is tried again with a warning if the list cannot be read", async () => {
    const { result, warnings } = await provisioned({
      create: [conflict, harness("CREATING")],
      list: [listed(createHarnessMembers("DELETING")), createRefusal(403, "AccessDeniedException")],
    });
    expect(result.origin).toBe("created");
    expect(warnings).toEqual([expect.stringContaining("creating the new one anyway")]);
  });

  it("A list whose pages form a cycle is read at intervals [RMA-P2-5]", async () => {
    const circle = { body: { harnesses: [], nextToken: "again" } };
    const deleting = {
      body: { harnesses: [createHarnessMembers("DELETING")], nextToken: "again" },
    };
    const lists = Array.from({ length: 40 }, (_, at) => (at % 4 < 2 ? deleting : circle));
    const { plane, warnings } = await refused({ create: [conflict], list: lists });
    const times = plane.requests.filter(({ method }) => method === "POST").map(({ at }) => at);
    expect(times.slice(0, 3)).toEqual([0, 1000, 2000]);
    expect(warnings[0]).toBe("The list of harnesses is incomplete, so demo may still exist");
  });
});

describe("Rollbacks", () => {
  it("A failed rollback does not hide the original error and reports what is left behind", async () => {
    const { error, warnings } = await refused({
      harness: [harness("CREATE_FAILED")],
      delete: [createRefusal(403, "AccessDeniedException")],
    });
    expect(error).toBeInstanceOf(HarnessFailedError);
    expect(warnings).toEqual([
      "Harness demo could not be deleted and remains: AccessDeniedException: no",
    ]);
  });

  it("A rollback retries while the service reports a conflict", async () => {
    const { plane, warnings } = await refused({
      harness: [harness("CREATE_FAILED")],
      delete: [conflict, conflict, harness("DELETING")],
    });
    expect(deletions(plane)).toHaveLength(3);
    expect(warnings).toEqual([]);
  });

  it("A rollback has its own limit of 30 seconds", async () => {
    const { plane, warnings } = await refused({
      harness: [harness("CREATE_FAILED")],
      delete: [conflict],
    });
    const times = plane.requests.filter(({ method }) => method === "DELETE").map(({ at }) => at);
    expect(times).toEqual(Array.from({ length: 15 }, (_, at) => at * 2000));
    expect(warnings).toEqual([expect.stringContaining("remains")]);
  });

  it("An abort during the wait rolls back", async () => {
    const stop = new AbortController();
    const { tried, attempt } = await trying(
      { harness: [harness("CREATING")] },
      { signal: stop.signal },
    );
    const { plane } = tried;
    const ended = catchRejection(attempt);
    plane.clock.schedule(2500, () => stop.abort("Ctrl-C"));
    const error = await plane.settle(ended);
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ cause: "Ctrl-C" });
    expect(deletions(plane)).toEqual([`DELETE ${HARNESS_PATH}`]);
  });

  it("An abort during the creation rolls back the created harness", async () => {
    const stop = new AbortController();
    const plane = await startScriptedControlPlane(({ method }) => {
      if (method !== "POST") return harness("DELETING");
      stop.abort("Ctrl-C");
      return harness("CREATING");
    });
    const { client } = plane;
    const error = await plane.settle(
      catchRejection(provisionHarness(SPEC, { client, signal: stop.signal })),
    );
    expect(error).toBeInstanceOf(AbortError);
    expect(formatRequests(plane.requests)).toEqual(["POST /harnesses", `DELETE ${HARNESS_PATH}`]);
  });
});
