import { RECOVERY_NOTICE } from "../../domain/recovery-notice.ts";

/** Browser code: applies each event of the log to the conversation on the page. */
export const CONVERSATION_SCRIPT = String.raw`
/** The elements on the page, by the ids in events. Replaced when the log is read from its beginning. */
function emptyView() {
  return { prompts: new Map(), messages: new Map(), blocks: new Map(), tools: new Map(), approvals: new Map(), turnId: null, plan: null };
}
let view = emptyView();

const QUESTIONS = {
  run: "May this run?",
  outcome: "The bridge was stopped while this ran. It may already have run; allowing runs it again. Check, then choose:",
  "lost-invocation": "The connection to the agent was lost during its work. How should the session continue?",
};
const CHOICES = {
  allow: "Allow", "allow-always": "Always allow", deny: "Deny",
  done: "It was done", failed: "It failed", "run-again": "Run again",
  continue: "Continue", reseed: "Start over", stop: "Stop",
};
const ENDINGS = {
  succeeded: ["done", "good"], server: ["done on the agent's side", "good"], failed: ["failed", "bad"],
  denied: ["denied", "bad"], cancelled: ["cancelled", "bad"], "timed-out": ["took too long", "bad"],
  refused: ["could not run", "bad"], unknown: ["outcome unknown", "bad"],
};

const PLAN = { pending: "☐", in_progress: "▸", completed: "☑", blocked: "⏸", cancelled: "☒" };

const shown = {
  "session.opened": ({ agent, title }) => {
    byId("agent").textContent = agent;
    if (title) setTitle(title);
  },
  "session.title_changed": ({ title }) => setTitle(title),
  "session.mode_changed": ({ mode }) => note("The session mode is now " + mode),
  "session.recovered": () => note("Session resumed after a restart"),

  "prompt.accepted": ({ promptId, content }) => {
    const who = made("span", { class: "who" }, "waits for its turn");
    const message = made("article", { class: "message user" }, who, said(textIn(content)));
    view.prompts.set(promptId, { message, who });
    add(message);
  },
  "prompt.withdrawn": ({ promptId }) => {
    const prompt = view.prompts.get(promptId);
    prompt?.message.classList.add("withdrawn");
    if (prompt) prompt.who.textContent = "withdrawn";
  },
  "message.sent": ({ origin, content }) => {
    if (origin === "instructions") note("Instructions to the agent: " + textIn(content));
    else if (origin === "recovery") note(${JSON.stringify(RECOVERY_NOTICE)});
    else if (origin !== "prompt") note("Message of the bridge to the agent: " + textIn(content));
  },

  "turn.started": ({ turnId, promptId }) => {
    view.turnId = turnId;
    const prompt = view.prompts.get(promptId);
    if (!prompt) return;
    prompt.who.textContent = "";
    // A queued prompt moves behind the messages of the turns before it.
    if (prompt.message.nextElementSibling) add(prompt.message);
  },
  "turn.finished": ({ outcome, reason, failure }) => {
    view.turnId = null;
    if (outcome === "completed") return;
    const why = failure?.message ?? reason;
    const text = "The turn was " + (outcome === "limited" ? "ended by a limit" : outcome === "failed" ? "ended by a failure" : outcome);
    note(why ? text + ": " + why : text, outcome === "failed");
    announce(text);
  },
  "message.started": ({ messageId }) => messageOf(messageId),
  "message.finished": ({ messageId, interrupted }) => {
    const message = view.messages.get(messageId);
    if (interrupted) message?.classList.add("cut");
    const texts = [...(message?.querySelectorAll(":scope > .said") ?? [])].map((one) => one.textContent);
    if (texts.length > 0) announce("Agent: " + texts.join(" "));
  },
  "message.replaced": ({ messageId, text }) => {
    const message = messageOf(messageId);
    for (const old of message.querySelectorAll(":scope > .said")) old.remove();
    message.append(said(text));
  },
  "text.delta": (event) => textBlock(event).appendData(event.text),
  "text.finished": (event) => {
    textBlock(event).data = event.text;
    if (event.interrupted) messageOf(event.messageId).classList.add("cut");
  },
  "thought.delta": (event) => thoughtBlock(event).appendData(event.text),
  "thought.finished": (event) => {
    thoughtBlock(event).data = event.redacted && !event.text ? "(hidden by the provider)" : event.text;
  },

  "tool_call.opened": ({ toolCallId, messageId, name }) => toolOf(toolCallId, name, messageId),
  "tool_call.input.delta": ({ toolCallId, text }) => toolOf(toolCallId).input.firstChild.appendData(text),
  "tool_call.received": ({ toolCallId, messageId, toolCall, problem }) => {
    const tool = toolOf(toolCallId, toolCall.name, messageId);
    tool.input.textContent = toolCall.input === null ? toolCall.inputText : pretty(toolCall.input);
    setState(tool, "called");
    if (problem) tool.body.append(made("div", { class: "problem" }, problem));
  },
  "tool.started": ({ toolCallId, attempt }) =>
    setState(toolOf(toolCallId), attempt > 1 ? "running, attempt " + attempt : "running", "wait"),
  "tool.waiting_for_host": ({ toolCallId }) =>
    setState(toolOf(toolCallId), "waiting for its client to come back", "wait"),
  "tool.progress": ({ toolCallId, text }) => {
    const tool = toolOf(toolCallId);
    tool.progress ??= tool.body.appendChild(made("div", { class: "faint" }));
    tool.progress.textContent = text;
  },
  "tool.finished": ({ toolCallId, ending, result, durationMs }) => {
    const tool = toolOf(toolCallId);
    const [text, look] = ENDINGS[ending] ?? [ending, ""];
    setState(tool, durationMs === undefined ? text : text + " in " + duration(durationMs), look);
    tool.progress?.remove();
    tool.body.append(labelled(result.isError ? "Error" : "Result", result.parts.map(partText).join("\n") || "(nothing)"));
  },

  "plan.updated": ({ entries }) => {
    view.plan ??= made("section", { class: "plan", "aria-label": "Plan" });
    const items = entries.map(({ content, status }) => made("li", {}, (PLAN[status] ?? "☐") + " " + content));
    view.plan.replaceChildren(made("div", { class: "label" }, "Plan"), made("ul", {}, ...items));
    // The page shows a single plan, at the position of its last change.
    add(view.plan);
  },

  "approval.requested": (event) => {
    const tool = view.tools.get(event.subjectId);
    const approval = approvalCard(event, tool !== undefined);
    view.approvals.set(event.approvalId, approval);
    if (tool) {
      setState(tool, "needs an answer", "wait");
      tool.card.open = true;
      tool.body.append(approval.card);
    } else add(approval.card);
    announce("An answer is needed: " + event.action);
  },
  "approval.resolved": ({ approvalId, decision, resolvedBy, reason }) => {
    const approval = view.approvals.get(approvalId);
    if (!approval) return;
    view.approvals.delete(approvalId);
    const how = { person: "", deadline: " (no decision in time)", cancel: " (the turn was cancelled)", change: " (the rules, the mode or the tool changed)" }[resolvedBy] ?? "";
    const text = "Answer: " + (CHOICES[decision] ?? decision) + how + (reason ? ": " + reason : "");
    approval.card.classList.add("over");
    approval.card.replaceChildren(made("p", {}, text));
    const tool = view.tools.get(approval.subjectId);
    if (tool) setState(tool, "answered");
  },
};

function setTitle(title) {
  byId("title").textContent = title;
  document.title = title + " · Spanline";
}

function add(element) {
  byId("conversation").append(element);
}

function note(text, isBad = false) {
  add(made("p", { class: isBad ? "note bad" : "note" }, text));
}

function said(text) {
  return made("div", { class: "said" }, document.createTextNode(text));
}

function textIn(content) {
  return content.map((part) => part.text ?? "(Image, " + part.mediaType + ")").join("\n");
}

function messageOf(messageId) {
  let message = view.messages.get(messageId);
  if (message) return message;
  message = made("article", { class: "message agent" });
  view.messages.set(messageId, message);
  add(message);
  return message;
}

/** The text node of a block, created with the first event of the block. */
function textBlock({ messageId, block }) {
  return blockOf("text", messageId, block, () => said(""));
}

function thoughtBlock({ messageId, block }) {
  return blockOf("thought", messageId, block, () =>
    made("details", { class: "thought" }, made("summary", {}, "Thoughts"), said("")));
}

function blockOf(kind, messageId, block, make) {
  const key = kind + " " + block + " " + messageId;
  let text = view.blocks.get(key);
  if (text) return text;
  const element = make();
  messageOf(messageId).append(element);
  text = (kind === "text" ? element : element.lastChild).firstChild;
  view.blocks.set(key, text);
  return text;
}

/** Tool calls appear at their position in the agent's message. */
function toolOf(toolCallId, name = "tool", messageId) {
  let tool = view.tools.get(toolCallId);
  if (tool) return tool;
  const state = made("span", { class: "state" }, "preparing");
  const input = made("pre", { tabindex: "0", "aria-label": "Input" }, document.createTextNode(""));
  const body = made("div", {}, made("div", { class: "label" }, "Input"), input);
  const summary = made("summary", {}, made("span", { class: "name" }, name), state);
  tool = { card: made("details", { class: "tool", open: "" }, summary, body), state, input, body };
  view.tools.set(toolCallId, tool);
  if (messageId) messageOf(messageId).append(tool.card);
  else add(tool.card);
  return tool;
}

function setState(tool, text, look = "") {
  tool.state.textContent = text;
  tool.state.className = look ? "state " + look : "state";
}

function labelled(label, text) {
  return made("div", {}, made("div", { class: "label" }, label), made("pre", { tabindex: "0", "aria-label": label }, text));
}

function partText(part) {
  if (part.type === "text") return part.text;
  return pretty(part.type === "json" ? part.value : part.raw);
}

function pretty(value) {
  return JSON.stringify(value, null, 2);
}

function duration(ms) {
  return ms < 1000 ? Math.round(ms) + " ms" : (ms / 1000).toFixed(1) + " s";
}

function approvalCard(asked, isInTool) {
  const { approvalId, question, options, action, always = action, subjectId, input, deadline } = asked;
  const card = made("section", { class: "approval", "aria-label": "An answer is needed" });
  const problem = made("p", { class: "problem", role: "alert" });
  const approval = { card, subjectId, buttons: [], isSending: false };
  approval.buttons = options.map((decision, at) => {
    const button = made("button", { type: "button", class: at === 0 && question !== "outcome" ? "main" : "" }, question === "outcome" && decision === "deny" ? "Leave the outcome unknown" : decision === "allow-always" ? "Always allow " + always + " in this session" : CHOICES[decision] ?? decision);
    button.addEventListener("click", async () => {
      approval.isSending = true;
      refreshChoices(approval);
      problem.textContent = "";
      try {
        await command({ type: "answer", approvalId, decision });
      } catch (error) {
        problem.textContent = error.message;
        approval.isSending = false;
        refreshChoices(approval);
      }
    });
    return button;
  });
  card.append(made("p", {}, QUESTIONS[question] ?? question));
  if (!isInTool) {
    card.append(made("p", {}, action));
    if (input !== null) card.append(made("pre", { tabindex: "0" }, pretty(input)));
  }
  card.append(...reasonsFor(asked));
  card.append(
    made("div", { class: "choices" }, ...approval.buttons),
    made("div", { class: "label" }, "Until " + timeOfDay.format(deadline)),
    problem,
  );
  return approval;
}

/** The rule's prompt and risk, the reason of the request, the number of approvers, and the changes to files. */
function reasonsFor({ decision, approvers = 1, diffs = [] }) {
  const reasons = [];
  if (decision) {
    const { prompt, risk } = decision.approval ?? {};
    if (prompt) reasons.push(made("p", { class: "asked" }, prompt));
    if (risk) reasons.push(made("p", { class: "risk" }, "Risk: " + risk));
    const labels = decision.labels.filter((label) => label !== "approval_required").join(", ");
    reasons.push(made("p", { class: "label" }, decision.reason + (labels ? " (" + labels + ")" : "")));
  }
  if (approvers > 1) reasons.push(made("p", {}, approvers + " different people must approve."));
  for (const diff of diffs) reasons.push(labelled(diff.path, diffText(diff)));
  return reasons;
}

/** The changed lines, with three lines of context. */
function diffText({ oldText, newText }) {
  const before = oldText === null ? [] : oldText.split("\n");
  const after = newText.split("\n");
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const around = 3;
  return [
    ...before.slice(Math.max(0, start - around), start).map((line) => "  " + line),
    ...before.slice(start, before.length - end).map((line) => "- " + line),
    ...after.slice(start, after.length - end).map((line) => "+ " + line),
    ...after.slice(after.length - end, after.length - end + around).map((line) => "  " + line),
  ].join("\n");
}

function refreshChoices({ buttons, isSending }) {
  for (const one of buttons) one.disabled = isSending || !may("approve");
}
`;
