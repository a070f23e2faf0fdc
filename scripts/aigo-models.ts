import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { preparePython, runPython, startSpanline, type Step } from "./run-python.ts";

/**
 * Validates the output for AI GO! with the models of LatticeFlow's own SDK, for every kind of turn: the output of
 * `infer`, of `/v1/inference`, and of `/v1/responses` with a key that has `trace: pairs`. Exits with 1 if the models
 * reject an output, or accept the output known to be rejected. `PYTHON` names another interpreter.
 */

const PACKAGES = ["latticeflow-go-sdk==3.17.0"];

/** Scripted turns, by the word of the prompt that selects them. */
const SCENARIO_ANSWERS = {
  text: "Hello.",
  empty: [{ start: "assistant" }, { stop: "end_turn" }],
  tool: [{ server: "look_up", input: { query: "shoes" }, result: "[]" }, "We have no shoes."],
  parallel: [
    {
      servers: [
        { server: "look_up", input: { id: 1 }, result: { json: { state: "paid" } } },
        { server: "look_up", input: { id: 2 }, result: "none", status: "error" },
      ],
    },
    "One of two.",
  ],
  reasoning: [
    { reasoning: "Let me think.", signature: "c2ln" },
    "One moment.",
    { server: "look_up", input: {}, result: "yes" },
    "Yes.",
  ],
  redacted: [{ redacted: "c2VjcmV0" }, "Done."],
  limit: ["The answer is", { stop: "max_tokens" }],
  failure: ["Half of", { fail: { type: "internalServerException", message: "broken" } }],
};

const KINDS = Object.keys(SCENARIO_ANSWERS);
const KEY = "key-of-ai-go-0123456789";

const PROGRAM = `
import json, sys
from latticeflow.core.dtypes._model_io import OpenResponsesModelOutput
from latticeflow.core.dtypes._open_responses.models import ResponseResource

MODELS = {"ModelOutput": OpenResponsesModelOutput, "ResponseResource": ResponseResource}

for line in sys.stdin:
    sent = json.loads(line)
    try:
        MODELS[sent["model"]].model_validate(sent["value"], ignore_extra=False)
        errors = 0
    except Exception as error:
        errors = error.error_count() if hasattr(error, "error_count") else str(error)
        if not sent["isRejected"]:
            print(error, file=sys.stderr)
    print(json.dumps({"step": sent["step"], "accepted": errors == 0}), flush=True)
`;

interface ValidationCase {
  readonly step: string;
  readonly model: "ModelOutput" | "ResponseResource";
  readonly value: unknown;
  /** Whether the models must reject the value. Such a case proves that the models are really used. */
  readonly isRejected: boolean;
}

const python = preparePython("aigo", PACKAGES);
const folder = mkdtempSync(join(tmpdir(), "spanline-aigo-"));
const [turns, config] = [join(folder, "turns.json"), join(folder, "config.json")];
const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
writeFileSync(
  turns,
  JSON.stringify({
    turns: KINDS.map((kind) => ({ when: kind, answer: SCENARIO_ANSWERS[kind as never] })),
  }),
);
const emulator = await startSpanline(["emulate", "--brain", `script:${turns}`]);
try {
  const { url: endpoint = "", harness: arn = "" } = emulator.output;
  const agents = { shop: { provider: { type: "harness", arn, endpoint } } };
  const serve = { keys: [{ name: "ai-go", key: { env: "AI_GO_KEY" }, trace: "pairs" }] };
  writeFileSync(config, JSON.stringify({ agents, serve }));
  const server = await startSpanline(["serve", "-c", config, "-d", join(folder, "data")], {
    ...keys,
    AI_GO_KEY: KEY,
  });
  try {
    const outputs = await collectOutputs(server.output["url"] ?? "", {
      ...keys,
      AWS_HARNESS_ARN: arn,
      AWS_ENDPOINT_URL: endpoint,
    });
    const expected = outputs.map(({ step, isRejected }): Step => ({ step, accepted: !isRejected }));
    const input = outputs.map((output) => `${JSON.stringify(output)}\n`).join("");
    process.exitCode = (await runPython(python, PROGRAM, expected, { input })) ? 0 : 1;
  } finally {
    server.stop();
  }
} finally {
  emulator.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

async function collectOutputs(
  url: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly ValidationCase[]> {
  const outputs: ValidationCase[] = [];
  for (const kind of KINDS) {
    const messages = [{ role: "user", content: `The turn: ${kind}` }];
    const body = JSON.stringify({ messages });
    const model = "ModelOutput";
    const isRejected = false;
    outputs.push(
      { step: `infer, ${kind}`, model, value: runInfer(body, environment), isRejected },
      {
        step: `/v1/inference, ${kind}`,
        model,
        value: await postJson(`${url}/v1/inference`, body),
        isRejected,
      },
      {
        step: `/v1/responses, ${kind}`,
        model: "ResponseResource",
        value: await postJson(`${url}/v1/responses`, JSON.stringify({ input: messages })),
        isRejected,
      },
    );
  }
  const input = JSON.stringify({ input: "The turn: tool", trace: "mcp" });
  outputs.push({
    step: "/v1/responses with the trace mode mcp",
    model: "ResponseResource",
    value: await postJson(`${url}/v1/responses`, input),
    isRejected: true,
  });
  return outputs;
}

/** A turn that fails after its start exits with 1 but still prints its output. */
function runInfer(input: string, environment: NodeJS.ProcessEnv): unknown {
  const { stdout } = spawnSync(process.execPath, ["dist/cli/main.js", "infer"], {
    input,
    encoding: "utf8",
    env: { ...process.env, ...environment },
  });
  return JSON.parse(stdout);
}

async function postJson(url: string, body: string): Promise<unknown> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
  const answer = await fetch(url, { method: "POST", headers, body });
  if (answer.ok) return answer.json();
  throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
}
