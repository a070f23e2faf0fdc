/** Browser code: the connection of a session's page to the bridge, and what its user can do. */
export const SESSION_SCRIPT = String.raw`
const sessionId = decodeURIComponent(location.pathname.split("/")[2]);
const api = "/api/sessions/" + encodeURIComponent(sessionId);
const MOST_RAW_EVENTS = 500;

let rights = [];
/** Events up to here were there before the page was: they are shown, not announced. */
let oldSeq = Infinity;
let lastSeq = 0;
let rawEvents = [];
let follows = true;

function may(right) {
  return rights.includes(right);
}

/** The key lets the bridge know a command that is sent again because its answer was lost. */
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

/** The events come from the log, so the same one never comes twice but after a reset. */
function show(envelope) {
  lastSeq = envelope.seq;
  shown[envelope.event.type]?.(envelope.event);
  rawEvents.push(envelope);
  if (rawEvents.length > MOST_RAW_EVENTS) rawEvents.shift();
  if (byId("raw").open) addRaw(envelope);
  refreshSoon();
}

/** Once for all the events of a frame: a long log would otherwise lay the page out for each of them. */
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
    "This page may read and prompt. To answer approvals and to cancel, open the link that spanline up printed.";
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

/** Everything from the beginning, on an empty page. */
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

/** The browser connects again by itself, from the last event it saw; what it gives up on begins anew here. */
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
    // A bridge that was started again may have another token.
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
  // Enter also ends the composing of a character, which is no sending.
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
/** What is added moves the end away from the reader: only going up is leaving it. */
let lastTop = 0;
window.addEventListener("scroll", () => {
  const { scrollHeight } = document.documentElement;
  if (window.innerHeight + window.scrollY >= scrollHeight - 80) follows = true;
  else if (window.scrollY < lastTop) follows = false;
  lastTop = window.scrollY;
}, { passive: true });

/** Another tab may have opened the link meanwhile, with the rights that this one lacks. */
function learnAgain() {
  if (!document.hidden) learn().catch(() => {});
}
window.addEventListener("focus", learnAgain);
document.addEventListener("visibilitychange", learnAgain);

connect();
`;
