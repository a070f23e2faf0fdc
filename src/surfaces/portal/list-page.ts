import type { PageParts } from "./page.ts";
import { SHARED_SCRIPT } from "./shared-script.ts";

/** The list page: sessions, newest first, and a button for a new session. */
export const LIST_PAGE: PageParts = {
  title: "Sessions · Spanline",
  body: String.raw`
<header>
  <h1>Sessions</h1>
  <label for="agent" class="unseen">Agent</label>
  <select id="agent" hidden></select>
  <button id="new" class="main" type="button">New session</button>
</header>
<main>
  <p id="problem" class="problem" role="alert" hidden></p>
  <p id="empty" class="notice" hidden>There are no sessions yet.</p>
  <ul id="sessions" class="sessions"></ul>
</main>
`,
  script: String.raw`${SHARED_SCRIPT}
function show(id, text) {
  byId(id).textContent = text;
  byId(id).hidden = text === "";
}

const STATES = { idle: "idle", running: "working", waiting: "needs an answer" };

function row(session) {
  return made("li", {},
    made("a", { href: session.page },
      made("span", { class: "title" }, session.title ?? "Untitled"),
      made("span", { class: "faint" }, session.agent),
      made("span", { class: session.state === "idle" ? "state" : "state wait" }, STATES[session.state] ?? session.state),
      made("span", { class: "faint" }, dayAndTime.format(session.updatedAt))));
}

function offerAgents(agents) {
  const choice = byId("agent");
  if (choice.options.length > 0) return;
  choice.append(...agents.map((agent) => made("option", {}, agent)));
  choice.hidden = agents.length < 2;
}

let shown = "";
async function refresh() {
  if (document.hidden) return;
  try {
    const { sessions, agents } = await call("/api/sessions");
    show("problem", "");
    offerAgents(agents);
    // Rebuilt only after a change, so that the keyboard focus stays in the list.
    const now = JSON.stringify(sessions);
    if (now === shown) return;
    shown = now;
    byId("empty").hidden = sessions.length > 0;
    byId("sessions").replaceChildren(...sessions.map(row));
  } catch (error) {
    show("problem", error.message);
  }
}

byId("new").addEventListener("click", async () => {
  byId("new").disabled = true;
  try {
    const agent = byId("agent").value;
    const session = await post("/api/sessions", agent === "" ? {} : { agent });
    location.assign(session.page);
  } catch (error) {
    show("problem", error.message);
    byId("new").disabled = false;
  }
});

document.addEventListener("visibilitychange", refresh);
window.setInterval(refresh, 3000);
refresh();
`,
};
