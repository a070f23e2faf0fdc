import { describe, expect, it } from "vitest";
import { modelFromName } from "../../src/models/model-from-name.ts";
import { toBodyParts, type HttpRequest, type SendHttp } from "../../src/platform/http-client.ts";
import { NoResponseError } from "../../src/platform/http-client.ts";
import { refusalOf } from "./run-model.ts";

/** The request which a model of this name sends. */
async function sentBy(
  name: string,
  env: { readonly [name: string]: string },
  settings: { readonly baseUrl?: string } = {},
): Promise<HttpRequest> {
  const sent: HttpRequest[] = [];
  const send: SendHttp = (request) => {
    sent.push(request);
    return Promise.reject(new NoResponseError(new Error("offline"), false));
  };
  await refusalOf(modelFromName(name, env, { ...settings, send, maxAttempts: 1 }));
  const [request] = sent;
  if (request === undefined) throw new Error("Nothing was sent");
  return request;
}

function bodyOf({ body }: HttpRequest): unknown {
  return JSON.parse(Buffer.concat(toBodyParts(body ?? [])).toString());
}

describe("Models by name", () => {
  it("ollama uses this machine and needs no key", async () => {
    const request = await sentBy("ollama:qwen3:8b", {});
    expect(String(request.url)).toBe("http://127.0.0.1:11434/v1/chat/completions");
    expect(request.headers).not.toHaveProperty("authorization");
    expect(bodyOf(request)).toMatchObject({ model: "qwen3:8b" });
  });

  it("openai reads its key from the environment", async () => {
    const request = await sentBy("openai:gpt-5", { OPENAI_API_KEY: "sk-1" });
    expect(String(request.url)).toBe("https://api.openai.com/v1/chat/completions");
    expect(request.headers).toMatchObject({ authorization: "Bearer sk-1" });
  });

  it("openai can use another server, with or without a key", async () => {
    const env = { OPENAI_BASE_URL: "http://gpu:8000/v1" };
    expect(String((await sentBy("openai:m", env)).url)).toBe("http://gpu:8000/v1/chat/completions");
    const keyed = await sentBy("openai:m", { ...env, OPENAI_API_KEY: "sk-1" });
    expect(keyed.headers).toMatchObject({ authorization: "Bearer sk-1" });
  });

  it.each([
    ["openai:m", {}, "http://gpu:8000/v1/chat/completions"],
    ["openai:m", { OPENAI_BASE_URL: "http://other/v1" }, "http://gpu:8000/v1/chat/completions"],
    ["ollama:m", {}, "http://gpu:8000/v1/chat/completions"],
    ["anthropic:m", { ANTHROPIC_API_KEY: "k" }, "http://gpu:8000/v1/v1/messages"],
    [
      "bedrock:m",
      { AWS_REGION: "us-east-1", AWS_BEARER_TOKEN_BEDROCK: "k" },
      "http://gpu:8000/v1/model/m/converse-stream",
    ],
  ])("A request of %s with %j goes to the server in baseUrl", async (name, env, url) => {
    const request = await sentBy(name, env, { baseUrl: "http://gpu:8000/v1" });
    expect(String(request.url)).toBe(url);
  });

  it("A server in baseUrl gets no authorization header if no key is set", async () => {
    const settings = { baseUrl: "http://127.0.0.1:8000/v1" };
    expect((await sentBy("openai:m", {}, settings)).headers).not.toHaveProperty("authorization");
    const keyed = await sentBy("openai:m", { OPENAI_API_KEY: "sk-1" }, settings);
    expect(keyed.headers).toMatchObject({ authorization: "Bearer sk-1" });
  });

  it("anthropic reads its key and its address from the environment", async () => {
    const request = await sentBy("anthropic:claude-opus-4-1", { ANTHROPIC_API_KEY: "sk-ant-1" });
    expect(String(request.url)).toBe("https://api.anthropic.com/v1/messages");
    expect(request.headers).toMatchObject({ "x-api-key": "sk-ant-1" });
    const env = { ANTHROPIC_API_KEY: "sk-ant-1", ANTHROPIC_BASE_URL: "https://gateway/anthropic" };
    expect(String((await sentBy("anthropic:m", env)).url)).toBe(
      "https://gateway/anthropic/v1/messages",
    );
  });

  it("bedrock uses a region and its own key", async () => {
    const env = { AWS_REGION: "eu-central-1", AWS_BEARER_TOKEN_BEDROCK: "bedrock-key" };
    const request = await sentBy("bedrock:eu.amazon.nova-pro-v1:0", env);
    expect(String(request.url)).toBe(
      "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.amazon.nova-pro-v1%3A0/converse-stream",
    );
    expect(request.headers).toMatchObject({ authorization: "Bearer bedrock-key" });
  });

  it("bedrock reads the region from an ARN and the address from the environment", async () => {
    const arn = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.nova";
    const env = {
      AWS_BEARER_TOKEN_BEDROCK: "bedrock-key",
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "http://127.0.0.1:9000",
    };
    expect((await sentBy(`bedrock:${arn}`, env)).url.origin).toBe("http://127.0.0.1:9000");
  });

  it.each([
    [
      "openai:gpt-5",
      {},
      "no_credentials",
      "openai:gpt-5 needs a key. Fix: set OPENAI_API_KEY. For your own server set baseUrl or OPENAI_BASE_URL; a key is then optional. No request was sent",
    ],
    [
      "anthropic:m",
      { ANTHROPIC_API_KEY: " " },
      "no_credentials",
      "anthropic:m needs a key. Fix: set ANTHROPIC_API_KEY. No request was sent",
    ],
    [
      "bedrock:m",
      {},
      "invalid_option",
      "bedrock:m needs a region. Fix: set AWS_REGION, for example to us-east-1",
    ],
    [
      "gpt-5",
      {},
      "invalid_option",
      '"gpt-5" is not a valid model: expected ollama:<model>, openai:<model>, anthropic:<model>, bedrock:<model>',
    ],
    [
      "olama:qwen3",
      {},
      "invalid_option",
      '"olama:qwen3" is not a valid model: expected ollama:<model>, openai:<model>, anthropic:<model>, bedrock:<model>. Fix: did you mean "ollama"?',
    ],
    [
      "ollama:",
      {},
      "invalid_option",
      '"ollama:" is not a valid model: expected ollama:<model>, openai:<model>, anthropic:<model>, bedrock:<model>',
    ],
  ])("%s with %j is refused before anything is sent", (name, env, code, message) => {
    expect(() => modelFromName(name, env)).toThrowError(expect.objectContaining({ code, message }));
  });
});
