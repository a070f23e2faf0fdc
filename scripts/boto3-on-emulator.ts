import { execFileSync } from "node:child_process";
import { PYTHON, runPython, startSpanline, type Step } from "./run-python.ts";

/**
 * Runs boto3, as AWS ships it, against the emulator: creates, invokes, resumes, stops and deletes a harness, with every
 * signature checked. Prints the results of boto3; exits with 1 if they differ from the expected results. `PYTHON` names
 * another interpreter.
 */

const EXPECTED: readonly Step[] = [
  { step: "create", name: "boto3_demo" },
  { step: "wait", status: "READY" },
  {
    step: "invoke",
    text: "Let me use get_weather for that.",
    calls: [{ name: "get_weather", input: { city: "Bergen" } }],
    reason: "tool_use",
  },
  {
    step: "resume without the echo",
    error: "runtimeClientError",
    message:
      "An error occurred (ValidationException) when calling the ConverseStream operation: The number of toolResult blocks at messages.1.content exceeds the number of toolUse blocks of previous turn.",
  },
  {
    step: "resume",
    text: "Done. get_weather says: sky: rain.",
    calls: [],
    reason: "end_turn",
  },
  { step: "runtime", contentType: "text/event-stream", status: 200, text: "That is 5." },
  { step: "stop", status: 200 },
  { step: "delete", status: "DELETING" },
  { step: "gone", error: "ResourceNotFoundException" },
];

const PROGRAM = `
import json, sys, time, uuid
import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError

url, runtime = sys.argv[1:]
settings = dict(
    region_name="us-east-1", endpoint_url=url, aws_access_key_id="test", aws_secret_access_key="test",
    config=Config(retries={"total_max_attempts": 1}),
)
control = boto3.client("bedrock-agentcore-control", **settings)
data = boto3.client("bedrock-agentcore", **settings)

def say(step, **facts):
    print(json.dumps({"step": step, **facts}), flush=True)

tool = {
    "type": "inline_function",
    "name": "get_weather",
    "config": {"inlineFunction": {
        "description": "The weather in a city",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }},
}
harness = control.create_harness(
    harnessName="boto3_demo", executionRoleArn="arn:aws:iam::123456789012:role/demo", tools=[tool],
)["harness"]
say("create", name=harness["harnessName"])

for attempt in range(100):
    status = control.get_harness(harnessId=harness["harnessId"])["harness"]["status"]
    if status != "CREATING":
        break
    time.sleep(0.1)
say("wait", status=status)

session = "boto3-" + str(uuid.uuid4())

def invoke(messages):
    text, calls, reason = "", [], None
    stream = data.invoke_harness(harnessArn=harness["arn"], runtimeSessionId=session, messages=messages)["stream"]
    for event in stream:
        start = event.get("contentBlockStart", {}).get("start", {}).get("toolUse")
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        text += delta.get("text", "")
        if start:
            calls.append({"id": start["toolUseId"], "name": start["name"], "input": ""})
        if "toolUse" in delta:
            calls[-1]["input"] += delta["toolUse"]["input"]
        reason = event.get("messageStop", {}).get("stopReason", reason)
    return text, [{**call, "input": json.loads(call["input"])} for call in calls], reason

def shown(calls):
    return [{"name": call["name"], "input": call["input"]} for call in calls]

text, calls, reason = invoke([{"role": "user", "content": [{"text": "What is the weather in Bergen?"}]}])
say("invoke", text=text, calls=shown(calls), reason=reason)

echo = {"role": "assistant", "content": [{"text": text}] + [
    {"toolUse": {"toolUseId": call["id"], "name": call["name"], "input": call["input"]}} for call in calls
]}
results = {"role": "user", "content": [
    {"toolResult": {"toolUseId": call["id"], "content": [{"text": "sky: rain"}], "status": "success"}} for call in calls
]}
try:
    invoke([results])
    say("resume without the echo")
except EventStreamError as error:
    say("resume without the echo", error=error.response["Error"]["Code"], message=error.response["Error"]["Message"])

text, calls, reason = invoke([echo, results])
say("resume", text=text, calls=shown(calls), reason=reason)

answer = data.invoke_agent_runtime(
    agentRuntimeArn=runtime, runtimeSessionId=session, payload=json.dumps({"prompt": "What is 2 + 3?"}).encode(),
)
lines = [line[6:] for line in answer["response"].read().decode().splitlines() if line.startswith("data: {")]
events = [json.loads(line).get("event", {}) for line in lines]
spoken = "".join(event.get("contentBlockDelta", {}).get("delta", {}).get("text", "") for event in events)
say("runtime", contentType=answer["contentType"], status=answer["statusCode"], text=spoken)

stopped = data.stop_runtime_session(agentRuntimeArn=harness["arn"], runtimeSessionId=session)
say("stop", status=stopped["statusCode"])

deleted = control.delete_harness(harnessId=harness["harnessId"])["harness"]
say("delete", status=deleted["status"])
try:
    control.get_harness(harnessId=harness["harnessId"])
    say("gone")
except ClientError as error:
    say("gone", error=error.response["Error"]["Code"])
`;

const PROBE = `
try:
    import boto3
    client = boto3.client("bedrock-agentcore", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    known = hasattr(client, "invoke_harness")
    print(f"boto3 {boto3.__version__}" if known else f"boto3 {boto3.__version__} does not know invoke_harness")
except Exception as error:
    print(error)
`;

const probeResult = probeBoto3();
process.stdout.write(`${probeResult}\n`);
if (/^boto3 [\d.]+$/.test(probeResult)) process.exitCode = (await runBoto3()) ? 0 : 1;
else process.stdout.write("Skipped: this is not a failure.\n");

/** The version of boto3, or the reason why it cannot be used. */
function probeBoto3(): string {
  try {
    return execFileSync(PYTHON, ["-c", PROBE], { encoding: "utf8" }).trim();
  } catch (error) {
    return `${PYTHON} cannot be run: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Whether boto3 returned the expected results. */
async function runBoto3(): Promise<boolean> {
  const emulator = await startSpanline(["emulate", "--signatures", "strict"]);
  try {
    const { url = "", runtime = "" } = emulator.output;
    return await runPython(PYTHON, PROGRAM, EXPECTED, { args: [url, runtime] });
  } finally {
    emulator.stop();
  }
}
