/** Browser code: the page's connection to the bridge, and its controls. */
export const SESSION_SCRIPT = String.raw`
const sessionId = decodeURIComponent(location.pathname.split("/")[2]);
const api = "/api/sessions/" + encodeURIComponent(sessionId);
const MOST_RAW_EVENTS = 500;

let rights = [];
/** The last event before the page was loaded. Events up to this one are shown but not announced to screen readers. */
let oldSeq = Infinity;
let lastSeq = 0;
let rawEvents = [];
let follows = true;

function may(right) {
  return rights.includes(right);
}

/** Sends a command, and again if the response was lost. The idempotency key prevents a second effect. */
async function command(body) {
  const headers = { "idempotency-key": crypto.randomUUID() };
  try {
    return await post(api + "/commands", body, headers);
  } catch (error) {
    if (error.status !== 0) throw error;
    return post(api + "/commands", body, headers);
  }
}

function announce(text) {
  if (lastSeq > oldSeq) byId("announcer").textContent = text.slice(0, 1000);
}

function setConnection(text, look = "") {
  byId("connection").textContent = text;
  byId("connection").className = "connection " + look;
}

function problem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = text === "";
}

/** Shows an event. Events come from the log, so no event is repeated except after a reset. */
function show(envelope) {
  lastSeq = envelope.seq;
  shown[envelope.event.type]?.(envelope.event);
  rawEvents.push(envelope);
  if (rawEvents.length > MOST_RAW_EVENTS) rawEvents.shift();
  if (byId("raw").open) addRaw(envelope);
  refreshSoon();
}

/** Refreshes once per animation frame: with a long log, a layout per event would be slow. */
let isRefreshing = false;
function refreshSoon() {
  if (isRefreshing) return;
  isRefreshing = true;
  requestAnimationFrame(() => {
    isRefreshing = false;
    refreshControls();
    if (follows) window.scrollTo({ top: document.documentElement.scrollHeight });
  });
}

function refreshControls() {
  const waiting = view.approvals.size;
  byId("count").textContent = String(lastSeq);
  byId("waiting").hidden = waiting === 0;
  byId("waiting").textContent = waiting === 1 ? "1 answer is needed" : waiting + " answers are needed";
  byId("busy").hidden = view.turnId === null || waiting > 0;
  byId("cancel").hidden = view.turnId === null;
  byId("cancel").disabled = !may("control");
  byId("send").disabled = !may("prompt");
  byId("notice").hidden = may("approve");
  byId("notice").textContent =
    "This page may read and prompt. To answer approvals and to cancel, open the link printed by spanline up.";
  for (const approval of view.approvals.values()) refreshChoices(approval);
}

function addRaw({ seq, at, event }) {
  const json = made("pre", { tabindex: "0" });
  const row = made("details", {}, made("summary", {}, "#" + seq + " " + timeOfDay.format(at) + " " + event.type), json);
  row.addEventListener("toggle", () => (json.textContent = pretty(event)));
  byId("events").append(made("li", {}, row));
  if (byId("events").childElementCount > MOST_RAW_EVENTS) byId("events").firstElementChild.remove();
  byId("omitted").hidden = lastSeq <= MOST_RAW_EVENTS;
  byId("omitted").textContent = "The last " + MOST_RAW_EVENTS + " are here";
}

/** Clears the page, before the log is read from its beginning. */
function reset() {
  view = emptyView();
  rawEvents = [];
  lastSeq = 0;
  byId("conversation").replaceChildren();
  byId("events").replaceChildren();
}

async function learn() {
  const session = await call(api);
  rights = session.rights;
  byId("agent").textContent = session.agent;
  if (session.title) setTitle(session.title);
  refreshControls();
  return session;
}

/** Connects. The browser reconnects from the last event by itself; after a final error the page connects again here. */
async function connect() {
  try {
    const { seq } = await learn();
    oldSeq = seq;
  } catch (error) {
    if (error.status === 404 || error.status === 401) return gone(error.message);
    setConnection("connecting");
    return void window.setTimeout(connect, 1000);
  }
  reset();
  const source = new EventSource(api + "/events");
  let isFirst = true;
  source.onopen = () => {
    setConnection("live", "live");
    // The bridge may have been restarted with another token, so the rights are read again.
    if (!isFirst) learn().catch(() => {});
    isFirst = false;
  };
  source.onmessage = ({ data }) => show(JSON.parse(data));
  source.addEventListener("gap", ({ data }) => problem(JSON.parse(data).error.message));
  source.addEventListener("failure", ({ data }) => {
    problem(JSON.parse(data).error.message);
    source.close();
    window.setTimeout(connect, 1000);
  });
  source.onerror = () => {
    setConnection("connecting again");
    if (source.readyState === EventSource.CLOSED) window.setTimeout(connect, 1000);
  };
}

function gone(message) {
  setConnection("gone", "gone");
  problem(message);
  byId("send").disabled = true;
}

async function send() {
  const box = byId("prompt");
  const text = box.value;
  if (text.trim() === "" || byId("send").disabled) return;
  byId("send").disabled = true;
  problem("");
  follows = true;
  try {
    await command({ type: "prompt", text });
    if (box.value === text) box.value = "";
  } catch (error) {
    problem(error.message);
  } finally {
    byId("send").disabled = !may("prompt");
  }
}

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
byId("prompt").addEventListener("keydown", (event) => {
  // Enter also ends the composition of a character, which must not send the prompt.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  send();
});
byId("cancel").addEventListener("click", async () => {
  problem("");
  try {
    await command({ type: "cancel", turnId: view.turnId });
  } catch (error) {
    problem(error.message);
  }
});
byId("waiting").addEventListener("click", () => {
  const [first] = view.approvals.values();
  first?.card.scrollIntoView({ block: "center" });
  first?.buttons[0]?.focus();
});
byId("raw").addEventListener("toggle", () => {
  byId("events").replaceChildren();
  if (byId("raw").open) rawEvents.forEach(addRaw);
});
/** New content moves the end of the page away, so only scrolling up stops following it. */
let lastTop = 0;
window.addEventListener("scroll", () => {
  const { scrollHeight } = document.documentElement;
  if (window.innerHeight + window.scrollY >= scrollHeight - 80) follows = true;
  else if (window.scrollY < lastTop) follows = false;
  lastTop = window.scrollY;
}, { passive: true });

/** Another tab may have signed in meanwhile, so the rights are read again. */
function learnAgain() {
  if (!document.hidden) learn().catch(() => {});
}
window.addEventListener("focus", learnAgain);
document.addEventListener("visibilitychange", learnAgain);

connect();
`;
