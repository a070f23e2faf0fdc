import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { describe, expect, it } from "vitest";
import { checkSignature, type SignatureRules } from "./check-signature.ts";
import type { SignedRequest } from "./canonical-request.ts";

const NOW = Date.UTC(2026, 1, 28, 23, 59, 30);
const KEYS = { accessKeyId: "test", secretAccessKey: "secret/with+signs" };
const TEMPORARY = { accessKeyId: "ASIATEMP", secretAccessKey: "other", sessionToken: "to/ken==" };
const rules: SignatureRules = {
  service: "bedrock-agentcore",
  region: "eu-central-1",
  credentials: [KEYS, TEMPORARY],
  now: NOW,
};

interface Parts {
  readonly method?: string;
  readonly path?: string;
  readonly query?: { readonly [name: string]: string | string[] };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly credentials?: typeof KEYS | typeof TEMPORARY;
  readonly at?: number;
  readonly region?: string;
  readonly service?: string;
}

/** Implements the hash interface of the AWS SDK with Node's crypto. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash("sha256") : createHmac("sha256", secret as Uint8Array);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

/** Signs a request with the signer of the AWS SDK. */
async function signed(parts: Parts = {}): Promise<SignedRequest> {
  const signer = new SignatureV4({
    credentials: parts.credentials ?? KEYS,
    region: parts.region ?? rules.region,
    service: parts.service ?? rules.service,
    sha256: Sha256,
  });
  const { method = "POST", path = "/harnesses/invoke", query = {}, body = "" } = parts;
  const { headers } = await signer.sign(
    {
      method,
      protocol: "http:",
      hostname: "localhost",
      path,
      query,
      headers: { host: "localhost:1", ...parts.headers },
      body,
    },
    { signingDate: new Date(parts.at ?? NOW) },
  );
  return {
    method,
    path,
    query: Object.entries(query)
      .flatMap(([name, values]) =>
        [values].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
      )
      .join("&"),
    headers: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    body: Buffer.from(body),
  };
}

function changed(request: SignedRequest, name: string, value: string | undefined): SignedRequest {
  const others = request.headers.filter(([other]) => other !== name);
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] };
}

const passes = { ok: true, mode: "sigv4", accessKeyId: "test" };

describe("Signature check", () => {
  it("A request signed by the AWS SDK passes", async () => {
    expect(checkSignature(await signed(), rules)).toEqual(passes);
  });

  it.each<[string, Parts]>([
    [
      "an ARN in the path",
      { path: "/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aeu-central-1%3A1%3Aruntime%2Fx/commands" },
    ],
    ["dots and double slashes in the path", { path: "/a/./b//../c%20d/" }],
    ["the root", { path: "/" }],
    ["a query in any order", { query: { "b b": "2", a: ["z", "a"], A: "é&=+" } }],
    ["query characters that few clients escape", { query: { q: "it's (a)*!" } }],
    ["an empty value in the query", { query: { flag: "" } }],
    ["a body that is not ASCII", { body: "Grüße 🌍" }],
    ["repeated spaces in a header value", { headers: { baggage: "  a   b \t c  " } }],
    ["a header value that is not ASCII", { headers: { "x-amz-meta": "é" } }],
  ])("A signed request passes with %s [AC-51] [AC-52]", async (_, parts) => {
    expect(checkSignature(await signed(parts), rules)).toEqual(passes);
  });

  it("An ARN in the path is escaped twice [AC-51]", async () => {
    const request = await signed({ path: "/runtimes/arn%3Aaws%2Fx/invocations" });
    const verdict = checkSignature({ ...request, body: Buffer.from("other") }, rules);
    expect(verdict).toMatchObject({
      canonicalRequest: expect.stringContaining("\n/runtimes/arn%253Aaws%252Fx/invocations\n"),
    });
  });

  it("Temporary credentials pass, and another session token is refused [AC-52]", async () => {
    const request = await signed({ credentials: TEMPORARY });
    expect(checkSignature(request, rules)).toEqual({ ...passes, accessKeyId: "ASIATEMP" });
    const invalid = { ok: false, problem: "unknown-key", canonicalRequest: null };
    for (const token of [undefined, "stolen"]) {
      expect(checkSignature(changed(request, "x-amz-security-token", token), rules)).toMatchObject(
        invalid,
      );
    }
  });

  it("A request without x-amz-content-sha256 passes, and a wrong value is refused", async () => {
    const request = await signed({ body: "{}" });
    const authorization = String(request.headers.find(([name]) => name === "authorization")?.[1]);
    expect(authorization).toContain("x-amz-content-sha256");
    const wrong = "0".repeat(64);
    expect(checkSignature(changed(request, "x-amz-content-sha256", wrong), rules)).toMatchObject({
      ok: false,
      problem: "payload-mismatch",
    });

    const signer = new SignatureV4({
      credentials: KEYS,
      region: rules.region,
      service: rules.service,
      sha256: Sha256,
      applyChecksum: false,
    });
    const bare = await signer.sign(
      {
        method: "POST",
        protocol: "http:",
        hostname: "localhost",
        path: "/harnesses/invoke",
        headers: { host: "localhost:1" },
        body: "{}",
      },
      { signingDate: new Date(NOW) },
    );
    expect(Object.keys(bare.headers)).not.toContain("x-amz-content-sha256");
    expect(
      checkSignature(
        {
          ...request,
          headers: Object.entries(bare.headers).map(([name, value]) => [name.toLowerCase(), value]),
        },
        rules,
      ),
    ).toEqual(passes);
  });

  it("A mismatch returns the canonical request that should have been signed [AC-92]", async () => {
    const request = await signed({ body: "{}", query: { qualifier: "DEFAULT" } });
    const verdict = checkSignature(changed(request, "host", "localhost:2"), rules);
    if (verdict.ok) throw new Error("passed");
    expect(verdict.problem).toBe("mismatch");
    expect(verdict.canonicalRequest).toBe(
      [
        "POST",
        "/harnesses/invoke",
        "qualifier=DEFAULT",
        "host:localhost:2",
        "x-amz-content-sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        "x-amz-date:20260228T235930Z",
        "",
        "host;x-amz-content-sha256;x-amz-date",
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
      ].join("\n"),
    );
    expect(verdict.message).toContain(`'${verdict.canonicalRequest}'`);
    expect(verdict.message).toContain(
      "The String-to-Sign should have been\n'AWS4-HMAC-SHA256\n20260228T235930Z\n20260228/eu-central-1/bedrock-agentcore/aws4_request\n",
    );
    expect(verdict.message).not.toContain(KEYS.secretAccessKey);
  });

  it.each<[string, Partial<SignedRequest>]>([
    ["the method", { method: "GET" }],
    ["the path", { path: "/harnesses/other" }],
    ["the query", { query: "harnessArn=x" }],
    ["the signature", {}],
  ])("A change of %s after signing is refused", async (what, change) => {
    const request = await signed();
    const touched =
      what === "the signature"
        ? changed(
            request,
            "authorization",
            String(request.headers.find(([name]) => name === "authorization")?.[1]).replace(
              /.$/,
              "g",
            ),
          )
        : { ...request, ...change };
    expect(checkSignature(touched, rules)).toMatchObject({ ok: false, problem: "mismatch" });
  });

  it("A signature more than five minutes off is refused with the message of AWS", async () => {
    const minutes = (count: number): number => NOW + count * 60_000;
    expect(checkSignature(await signed({ at: minutes(-5) }), rules)).toEqual(passes);
    expect(checkSignature(await signed({ at: minutes(-5) - 1000 }), rules)).toEqual({
      ok: false,
      problem: "skewed",
      canonicalRequest: null,
      message:
        "Signature expired: 20260228T235429Z is now earlier than 20260228T235430Z (20260228T235930Z - 5 min.)",
    });
    expect(checkSignature(await signed({ at: minutes(6) }), rules)).toMatchObject({
      problem: "skewed",
      message:
        "Signature not yet current: 20260301T000530Z is still later than 20260301T000430Z (20260228T235930Z + 5 min.)",
    });
  });

  it.each<[string, Parts, string]>([
    ["region", { region: "us-east-1" }, "scoped to a valid region, not 'us-east-1'"],
    ["service", { service: "bedrock" }, "scoped to correct service: 'bedrock-agentcore'"],
    ["secret key", { credentials: { ...KEYS, secretAccessKey: "guess" } }, "does not match"],
    ["access key", { credentials: { ...KEYS, accessKeyId: "AKIAOTHER" } }, "token included"],
  ])("A request signed with another %s is refused", async (_, parts, words) => {
    expect(checkSignature(await signed(parts), rules)).toMatchObject({
      ok: false,
      message: expect.stringContaining(words),
    });
  });

  it("A scope of another day is refused", async () => {
    const request = await signed();
    const authorization = String(request.headers.find(([name]) => name === "authorization")?.[1]);
    const moved = changed(request, "authorization", authorization.replace("20260228", "20260227"));
    expect(checkSignature(moved, rules)).toMatchObject({
      problem: "wrong-scope",
      message: expect.stringContaining("'20260227' != '20260228'"),
    });
  });

  it.each([
    ["Basic dGVzdA==", "Unsupported AWS 'algorithm': 'Basic'"],
    [
      "AWS4-HMAC-SHA256 SignedHeaders=host",
      "requires 'Credential' parameter. Authorization header requires 'Signature'",
    ],
    [
      "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=00",
      "exactly 5 slash-delimited",
    ],
    [
      "AWS4-HMAC-SHA256 Credential=test/20260228/eu-central-1/bedrock-agentcore/aws4_request, SignedHeaders=x-amz-date, Signature=00",
      "'Host' must be",
    ],
    ["Bearer ", "Unsupported AWS 'algorithm'"],
  ])("The invalid Authorization header %s is refused", async (authorization, words) => {
    const request = changed(await signed(), "authorization", authorization);
    expect(checkSignature(request, rules)).toMatchObject({
      problem: "malformed",
      message: expect.stringContaining(words),
    });
  });

  it("A request without a date or without any authorization is refused", async () => {
    const request = await signed();
    expect(checkSignature(changed(request, "x-amz-date", undefined), rules)).toMatchObject({
      problem: "malformed",
    });
    expect(checkSignature(changed(request, "authorization", undefined), rules)).toEqual({
      ok: false,
      problem: "missing",
      message: "Missing Authentication Token",
      canonicalRequest: null,
    });
  });

  it("A bearer token is distinguished from a signature [AC-54]", async () => {
    const request = changed(await signed(), "authorization", "Bearer a.b.c");
    expect(checkSignature(request, rules)).toEqual({ ok: true, mode: "bearer", token: "a.b.c" });
  });
});
