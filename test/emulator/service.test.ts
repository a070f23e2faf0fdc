import { CreateHarnessCommand, GetHarnessCommand } from "@aws-sdk/client-bedrock-agentcore-control";
import { describe, expect, it } from "vitest";
import { startEmulator } from "../../src/emulator/start-emulator.ts";
import type { EmulatorOptions } from "../../src/emulator/emulator-options.ts";
import {
  ConnectionReset,
  ServiceError,
  type EmulatorRoute,
} from "../../src/emulator/service/service-types.ts";
import { harnessNamed, started, stillClock } from "./start-control-plane.ts";

function dataPlane(...routes: EmulatorRoute[]): EmulatorOptions {
  return { dataPlane: () => ({ routes, close: async () => {} }) };
}

function route(path: string, handle: EmulatorRoute["handle"]): EmulatorRoute {
  return { method: "POST", path, handle };
}

const post = (url: string, body: unknown) =>
  fetch(url, { method: "POST", body: JSON.stringify(body) });

describe("The emulator as a server", () => {
  it("GET /_emulator describes the emulator", async () => {
    const { emulator } = await started({ clock: stillClock() });
    expect(await (await fetch(`${emulator.url}/_emulator`)).json()).toEqual({
      name: "Spanline's emulator of Amazon Bedrock AgentCore",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      region: "us-east-1",
      account: "123456789012",
      signatures: "off",
      dataDirectory: null,
      demoHarnessArn: emulator.demoArn,
      now: "2026-01-02T03:04:05.678Z",
      clockAheadSeconds: 0,
      operations: expect.arrayContaining(["POST /harnesses", "GET /harnesses/:harnessId/versions"]),
    });
  });

  it("Every response has a request id and the emulator's date", async () => {
    const { emulator } = await started({ clock: stillClock() });
    for (const path of ["/_emulator", "/harnesses", "/nowhere"]) {
      const { headers } = await fetch(emulator.url + path);
      expect(headers.get("x-amzn-requestid")).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get("date")).toBe("Fri, 02 Jan 2026 03:04:05 GMT");
    }
  });

  it.each([
    ["GET", "/nowhere"],
    ["PUT", "/harnesses"],
    ["GET", "/harnesses//versions"],
    ["GET", "/harnesses/%E0%A4%A/versions"],
  ])("%s %s is an unknown operation", async (method, path) => {
    const { emulator } = await started();
    const response = await fetch(emulator.url + path, { method });
    expect(response.status).toBe(404);
    expect(response.headers.get("x-amzn-errortype")).toBe("UnknownOperationException");
    expect(await response.json()).toEqual({ message: `There is no ${method} ${path}` });
  });

  it.each([
    ["InvokeWebSearch", "/web-search/search-abcdefghij/invoke"],
    ["ResetTokenVaultKeyMaterial", "/identities/reset-token-vault-key-material"],
  ])("An operation that is not emulated is refused by its name: %s", async (name, path) => {
    const { emulator } = await started();
    const response = await post(emulator.url + path, {});
    expect([response.status, response.headers.get("x-amzn-errortype")]).toEqual([
      404,
      "UnknownOperationException",
    ]);
    expect(await response.json()).toEqual({ message: `The emulator does not support ${name}` });
  });

  it("The data plane is closed if the emulator cannot listen", async () => {
    const { emulator } = await started();
    let closed = false;
    const close = async (): Promise<void> => void (closed = true);
    await expect(
      startEmulator({ port: emulator.port, dataPlane: () => ({ routes: [], close }) }),
    ).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(closed).toBe(true);
  });

  it("A literal path takes precedence over a path with a parameter", async () => {
    const respondWith = (text: string) => async () => ({
      status: 200,
      headers: {},
      body: Buffer.from(text),
    });
    const { emulator } = await started(
      dataPlane(route("/things/:id", respondWith("any")), route("/things/one", respondWith("one"))),
    );
    expect(await (await post(`${emulator.url}/things/one`, {})).text()).toBe("one");
    expect(await (await post(`${emulator.url}/things/two`, {})).text()).toBe("any");
  });

  it("A service error is answered with its status, type and members", async () => {
    const { emulator } = await started(
      dataPlane(
        route("/fail", async () => {
          throw new ServiceError(424, "RuntimeClientError", "no", { reason: "why" });
        }),
      ),
    );
    const response = await post(`${emulator.url}/fail`, {});
    expect([response.status, response.headers.get("x-amzn-errortype")]).toEqual([
      424,
      "RuntimeClientError",
    ]);
    expect(await response.json()).toEqual({ message: "no", reason: "why" });
  });

  it("The details of a bug are reported and not sent to the client", async () => {
    const bugs: unknown[] = [];
    const bug = new Error("a secret path");
    const { emulator } = await started({
      ...dataPlane(
        route("/bug", async () => {
          throw bug;
        }),
      ),
      onBug: (error) => bugs.push(error),
    });
    const response = await post(`${emulator.url}/bug`, {});
    expect([response.status, response.headers.get("x-amzn-errortype")]).toEqual([
      500,
      "InternalServerException",
    ]);
    expect(await response.text()).not.toMatch(/secret|at /);
    expect(bugs).toEqual([bug]);
  });

  it("A handler can reset the connection", async () => {
    const { emulator } = await started(
      dataPlane(
        route("/reset", async () => {
          throw new ConnectionReset();
        }),
      ),
    );
    await expect(post(`${emulator.url}/reset`, {})).rejects.toMatchObject({
      cause: { code: "ECONNRESET" },
    });
  });

  it("Requests of other origins and bodies over ten megabytes are refused in the form of the service", async () => {
    const { emulator } = await started(
      dataPlane(
        route("/runtimes/:arn/invocations", async ({ body }) => ({
          status: 200,
          headers: {},
          body: Buffer.from(String(body.length)),
        })),
      ),
    );
    const foreign = await fetch(`${emulator.url}/harnesses`, {
      method: "POST",
      headers: { origin: "http://evil.example" },
    });
    expect([foreign.status, foreign.headers.get("x-amzn-errortype")]).toEqual([
      403,
      "AccessDeniedException",
    ]);
    expect(foreign.headers.get("x-amzn-requestid")).toMatch(/^[0-9a-f-]{36}$/);
    const body = new Uint8Array(10_000_001);
    const large = await fetch(`${emulator.url}/harnesses`, { method: "POST", body });
    expect([large.status, large.headers.get("x-amzn-errortype")]).toEqual([
      413,
      "RequestEntityTooLargeException",
    ]);
    const invoked = await fetch(`${emulator.url}/runtimes/x/invocations`, { method: "POST", body });
    expect(await invoked.text()).toBe("10000001");
  });

  it("The clock can be advanced over HTTP", async () => {
    const { client, emulator } = await started({ clock: stillClock(), delays: { create: 30_000 } });
    const { harness } = await client.send(new CreateHarnessCommand(harnessNamed("helper")));
    const moved = await post(`${emulator.url}/_emulator/clock`, { advanceSeconds: 30 });
    expect(await moved.json()).toEqual({ now: "2026-01-02T03:04:35.678Z" });
    const got = await client.send(new GetHarnessCommand({ harnessId: harness?.harnessId }));
    expect(got.harness?.status).toBe("READY");
    for (const advanceSeconds of [-1, "1", 0.5]) {
      const refused = await post(`${emulator.url}/_emulator/clock`, { advanceSeconds });
      expect(refused.status).toBe(400);
    }
  });

  it("Outcomes can be injected over HTTP", async () => {
    const { client, emulator } = await started();
    const outcome = { harnessName: "helper", change: "create", status: "CREATE_FAILED" };
    await post(`${emulator.url}/_emulator/outcomes`, { ...outcome, failureReason: "no" });
    const { harness } = await client.send(new CreateHarnessCommand(harnessNamed("helper")));
    const got = await client.send(new GetHarnessCommand({ harnessId: harness?.harnessId }));
    expect(got.harness).toMatchObject({ status: "CREATE_FAILED", failureReason: "no" });
    const refused = await post(`${emulator.url}/_emulator/outcomes`, { change: "none" });
    expect(await refused.json()).toMatchObject({
      reason: "FieldValidationFailed",
      fieldList: [
        { name: "harnessName", message: "harnessName is missing: expected a string" },
        { name: "change" },
        { name: "status" },
      ],
    });
  });

  it.each([
    ["{", "CannotParse"],
    ["[]", "CannotParse"],
    ['{"harnessName":1}', "FieldValidationFailed"],
  ])("The body %s is refused", async (body, reason) => {
    const { emulator } = await started();
    const response = await fetch(`${emulator.url}/harnesses`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ reason });
  });
});
