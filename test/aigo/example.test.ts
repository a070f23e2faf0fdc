import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { hasCommand } from "../../src/platform/process/is-program.ts";
import { startPeer } from "../support/server/scripted-peer.ts";

const folder = join(import.meta.dirname, "../../examples/ai-go");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Parses a file as AI GO! does, with `!include` resolved. */
function document(name: string) {
  const include = { tag: "!include", resolve: (path: string) => read(path) };
  return parse(read(name), { customTags: [include] });
}

describe("The files of examples/ai-go", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

  it("Every file, model, dataset and task that the example refers to exists", () => {
    const run = document("run.yaml");
    const at = (list: string) => run[list].map((one: { $ref: string }) => document(one.$ref));
    const keys = (list: string) => at(list).map((one: { key: string }) => one.key);
    for (const { task_key, model_key } of run.evaluation.task_specifications) {
      expect([keys("tasks"), keys("models")]).toEqual([
        expect.arrayContaining([task_key]),
        expect.arrayContaining([model_key]),
      ]);
    }
    const [task] = at("tasks");
    expect(keys("datasets")).toEqual([task.definition.dataset.key]);
    expect(existsSync(join(folder, at("datasets")[0].file_path))).toBe(true);
    expect(keys("models").every((key: string) => /^[A-Za-z0-9_$-]{1,250}$/.test(key))).toBe(true);
  });

  it("The example registers both variants: the built-in adapter, and the snippet with its secret", () => {
    expect(document("model.yaml").config).toMatchObject({
      adapter: { key: "latticeflow$openai_responses" },
      url: "$SPANLINE_RESPONSES_URL",
    });
    const { config, secrets } = document("model-custom.yaml");
    expect(config).toMatchObject({
      connection_type: "custom_inference",
      adapter: { key: "latticeflow$identity_chat_completion" },
      run_inference_snippet: read("run_inference.py"),
    });
    const named = JSON.stringify(config.environment).matchAll(/<< secrets\.(\w+) >>/g);
    expect(Object.keys(secrets)).toEqual([...named].map(([, name]) => name));
  });

  it("Every variable is in .env.example, and the README has a command for every key", () => {
    const known = new Set([...read(".env.example").matchAll(/^(\w+)=/gm)].map(([, name]) => name));
    const used = files.flatMap((name) =>
      [...read(name).matchAll(/: \$([A-Z_]+)$/gm)].map(([, one]) => one),
    );
    expect(used.filter((name) => !known.has(name))).toEqual([]);
    expect(new Set(used)).toEqual(known);
    const tested = [...read("README.md").matchAll(/lf (?:test model|switch) (\S+)/g)].map(
      ([, key]) => key,
    );
    const keys = ["app.yaml", "model.yaml", "model-custom.yaml"].map((name) => document(name).key);
    expect(new Set(tested)).toEqual(new Set(keys));
  });
});

describe.skipIf(!(await hasCommand("python3", folder, process.env["PATH"])))(
  "run_inference.py",
  () => {
    /** The result of the snippet, or the last line of its error output. */
    function inferred(body: string, environment: object): Promise<string> {
      const code =
        "import json, sys; from run_inference import run_inference; " +
        "sys.stdout.write(run_inference(sys.argv[1], json.loads(sys.argv[2])))";
      const args = ["-B", "-c", code, body, JSON.stringify(environment)];
      const { PATH, HOME } = process.env;
      return new Promise((resolve) => {
        execFile("python3", args, { cwd: folder, env: { PATH, HOME } }, (error, stdout, stderr) =>
          resolve(error === null ? stdout : (stderr.trim().split("\n").at(-1) ?? "")),
        );
      });
    }

    const body = JSON.stringify({ messages: [{ role: "user", content: "Grüß Gott!", extra: 1 }] });

    it("The snippet sends the turn unchanged with key and agent, and returns the response unchanged [OR-74]", async () => {
      const answer = `{"items":[{"type":"message","session_id":"s","text":"Grüß Gott!"}],"usage":{}}`;
      const peer = await startPeer((response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(answer);
      });
      const environment = {
        SPANLINE_URL: `${peer.url}/`,
        SPANLINE_API_KEY: "key-1",
        SPANLINE_AGENT: "demo",
      };
      expect(await inferred(body, environment)).toBe(answer);
      const [request] = peer.requests;
      expect([request?.method, request?.url, request?.headers.authorization]).toEqual([
        "POST",
        "/v1/inference",
        "Bearer key-1",
      ]);
      expect(JSON.parse(String(request?.body))).toEqual({ ...JSON.parse(body), model: "demo" });
    });

    it.each(["", "/", "/v1", "/v1/"])(
      "The snippet finds the server at an address that ends with %j",
      async (end) => {
        const peer = await startPeer((response) => void response.writeHead(200).end("{}"));
        expect(await inferred(body, { SPANLINE_URL: peer.url + end })).toBe("{}");
        expect(peer.requests.map(({ url }) => url)).toEqual(["/v1/inference"]);
      },
    );

    it("The snippet retries a turn if the server says so", async () => {
      let answers = 0;
      const peer = await startPeer((response) => {
        answers += 1;
        if (answers > 1) response.writeHead(200).end("{}");
        else response.writeHead(429, { "retry-after": "0", "x-should-retry": "true" }).end("{}");
      });
      expect(await inferred(body, { SPANLINE_URL: peer.url })).toBe("{}");
      expect(peer.requests).toHaveLength(2);
    });

    it("The snippet does not wait longer than the model's time limit", async () => {
      const peer = await startPeer((response) => {
        response.writeHead(429, { "retry-after": "600", "x-should-retry": "true" }).end("busy");
      });
      expect(await inferred(body, { SPANLINE_URL: peer.url })).toBe(
        "RuntimeError: Spanline answered 429: busy",
      );
    });

    it("The snippet names the address of a server that cannot be reached", async () => {
      const inferResult = await inferred(body, { SPANLINE_URL: "http://127.0.0.1:1/v1" });
      expect(inferResult).toMatch(
        /^RuntimeError: No answer from a Spanline server at http:\/\/127\.0\.0\.1:1: .*refused/,
      );
    });

    it("The snippet reports the server's error and does not retry", async () => {
      const peer = await startPeer((response) => {
        response
          .writeHead(400, { "content-type": "application/json" })
          .end(`{"error":{"code":"no_new_message"}}`);
      });
      expect(await inferred(body, { SPANLINE_URL: peer.url })).toBe(
        `RuntimeError: Spanline answered 400: {"error":{"code":"no_new_message"}}`,
      );
      expect(peer.requests).toHaveLength(1);
      expect(peer.requests[0]?.headers.authorization).toBeUndefined();
    });
  },
);
