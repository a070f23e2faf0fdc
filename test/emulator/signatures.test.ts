import {
  BedrockAgentCoreClient,
  StopRuntimeSessionCommand,
} from "@aws-sdk/client-bedrock-agentcore";
import {
  CreateHarnessCommand,
  GetHarnessCommand,
  ListHarnessesCommand,
  ListTagsForResourceCommand,
} from "@aws-sdk/client-bedrock-agentcore-control";
import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/emulator-options.ts";
import type { EmulatorRequest } from "../../src/emulator/service/service-types.ts";
import { clientOf, harnessNamed, started, stillClock } from "./start-control-plane.ts";

const TEMPORARY = { accessKeyId: "ASIATEMP", secretAccessKey: "s/+", sessionToken: "to/ken+==" };
const SESSION = "0123456789abcdef0123456789abcdef0";

/** A strict emulator with a data-plane operation which records its requests. */
function strict(options: EmulatorOptions = {}) {
  const seen: { request: EmulatorRequest; arn: string | undefined }[] = [];
  const running = started({
    signatures: "strict",
    dataPlane: () => ({
      routes: [
        {
          method: "POST",
          path: "/runtimes/:agentRuntimeArn/stopruntimesession",
          handle: async (request, { agentRuntimeArn: arn }) => {
            seen.push({ request, arn });
            return {
              status: 200,
              headers: { "x-amzn-bedrock-agentcore-runtime-session-id": SESSION },
              body: Buffer.from("{}"),
            };
          },
        },
      ],
      close: async () => {},
    }),
    ...options,
  });
  return running.then((parts) => ({ ...parts, seen }));
}

const refusedWith = (name: string, message: unknown = expect.any(String)) => ({
  name,
  message,
  $metadata: { httpStatusCode: 403 },
});

describe("An emulator that checks signatures, called by the AWS SDK [AC-92]", () => {
  it("A request signed with the test credentials is accepted", async () => {
    const { client } = await strict();
    const answer = await client.send(
      new CreateHarnessCommand(harnessNamed("helper", { systemPrompt: [{ text: "Grüße 🌍" }] })),
    );
    expect(answer.harness?.systemPrompt).toEqual([{ text: "Grüße 🌍" }]);
  });

  it("A signed request with an ARN in its path is accepted on both planes [AC-51]", async () => {
    const { client, emulator, seen } = await strict();
    const tags = new ListTagsForResourceCommand({ resourceArn: emulator.demoArn });
    expect((await client.send(tags)).tags).toEqual({});
    const data = new BedrockAgentCoreClient({
      region: "us-east-1",
      endpoint: emulator.url,
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
    });
    const stop = new StopRuntimeSessionCommand({
      agentRuntimeArn: emulator.demoArn,
      runtimeSessionId: SESSION,
      qualifier: "a b+c&d=é",
    });
    stop.middlewareStack.add(
      (next) => (input) => {
        const { headers } = input.request as { headers: { [name: string]: string } };
        headers["baggage"] = "  one   two\t three ";
        return next(input);
      },
      { step: "build" },
    );
    expect((await data.send(stop)).runtimeSessionId).toBe(SESSION);
    data.destroy();
    expect(seen[0]?.arn).toBe(emulator.demoArn);
    expect(seen[0]?.request.path).toContain("/runtimes/arn%3Aaws%3Abedrock-agentcore");
    expect(seen[0]?.request.query.get("qualifier")).toBe("a b+c&d=é");
    expect(seen[0]?.request.headers).toMatchObject({
      baggage: "one   two\t three",
      authorization: expect.stringContaining("baggage;"),
    });
  });

  it("Temporary credentials are accepted only with their token [AC-52]", async () => {
    const { emulator } = await strict({ credentials: [TEMPORARY] });
    const list = new ListHarnessesCommand({});
    expect((await clientOf(emulator.url, TEMPORARY).send(list)).harnesses).toHaveLength(1);
    for (const credentials of [
      { ...TEMPORARY, sessionToken: "other" },
      { accessKeyId: TEMPORARY.accessKeyId, secretAccessKey: TEMPORARY.secretAccessKey },
      { accessKeyId: "test", secretAccessKey: "test" },
    ]) {
      await expect(clientOf(emulator.url, credentials).send(list)).rejects.toMatchObject(
        refusedWith(
          "UnrecognizedClientException",
          "The security token included in the request is invalid.",
        ),
      );
    }
  });

  it("A wrong secret key is refused with the expected canonical request", async () => {
    const { emulator } = await strict();
    const client = clientOf(emulator.url, { accessKeyId: "test", secretAccessKey: "guess" });
    const get = new GetHarnessCommand({ harnessId: "demo-spanline00" });
    await expect(client.send(get)).rejects.toMatchObject(
      refusedWith(
        "InvalidSignatureException",
        expect.stringMatching(
          /The Canonical String for this request should have been\n'GET\n\/harnesses\/demo-spanline00\n\n[\s\S]*The String-to-Sign should have been\n'AWS4-HMAC-SHA256\n/,
        ),
      ),
    );
  });

  it("A request without a signature is refused, except for the emulator's own routes", async () => {
    const { emulator } = await strict();
    const response = await fetch(`${emulator.url}/harnesses`);
    expect(response.status).toBe(403);
    expect(response.headers.get("x-amzn-errortype")).toBe("MissingAuthenticationTokenException");
    expect(await response.json()).toEqual({ message: "Missing Authentication Token" });
    expect((await fetch(`${emulator.url}/_emulator`)).status).toBe(200);
  });

  it("A signature with a wrong time is refused with the date, and the SDK corrects its clock [AC-53]", async () => {
    const { client, emulator } = await strict();
    await emulator.advance(3600_000);
    await expect(client.send(new ListHarnessesCommand({}))).rejects.toMatchObject({
      name: "InvalidSignatureException",
      message: expect.stringMatching(/^Signature expired: \d{8}T\d{6}Z is now earlier than/),
      $metadata: { clockSkewCorrected: true },
    });
    expect((await client.send(new ListHarnessesCommand({}))).harnesses).toHaveLength(1);
  });

  it("Bearer tokens are accepted on the data plane only [AC-54]", async () => {
    const { emulator } = await strict({ bearerTokens: ["a.b.c"] });
    const path = `/runtimes/${encodeURIComponent(emulator.demoArn)}/stopruntimesession`;
    const withToken = (at: string, method: string, token: string) =>
      fetch(emulator.url + at, { method, headers: { authorization: `Bearer ${token}` } });
    expect((await withToken(path, "POST", "a.b.c")).status).toBe(200);
    expect((await withToken(path, "POST", "x")).status).toBe(401);
    expect((await withToken("/harnesses", "GET", "a.b.c")).status).toBe(403);
  });

  it("Signatures are ignored unless the emulator is strict", async () => {
    const { emulator } = await started({ clock: stillClock() });
    expect((await fetch(`${emulator.url}/harnesses`)).status).toBe(200);
  });
});
