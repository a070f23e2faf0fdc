import type { PageParts } from "./page.ts";
import { SESSION_SCRIPT } from "./session-script.ts";
import { SHARED_SCRIPT } from "./shared-script.ts";
import { CONVERSATION_SCRIPT } from "./conversation-script.ts";

/** The page of a session, updated live. */
export const SESSION_PAGE: PageParts = {
  title: "Session · Spanline",
  body: String.raw`
<header>
  <a href="/">Sessions</a>
  <h1 id="title">Session</h1>
  <span id="agent" class="faint"></span>
  <span id="connection" class="connection" role="status">connecting</span>
</header>
<main>
  <p id="notice" class="notice" hidden></p>
  <div id="conversation" class="conversation" role="log" aria-live="off" aria-label="Conversation"></div>
  <p id="announcer" class="unseen" aria-live="polite"></p>
  <details id="raw" class="raw">
    <summary>Events (<span id="count">0</span>)</summary>
    <p id="omitted" class="faint" hidden></p>
    <ol id="events"></ol>
  </details>
</main>
<form id="composer" class="composer">
  <div class="above">
    <button id="waiting" class="waiting" type="button" hidden></button>
    <span id="busy" class="faint" hidden>The agent is working…</span>
    <p id="problem" class="problem" role="alert" hidden></p>
  </div>
  <div class="row">
    <label for="prompt" class="unseen">Message to the agent</label>
    <textarea id="prompt" rows="1" placeholder="Message" aria-describedby="keys" autofocus></textarea>
    <button id="cancel" type="button" hidden>Cancel</button>
    <button id="send" class="main" type="submit">Send</button>
  </div>
  <span id="keys" class="unseen">Enter sends, Shift and Enter begin a new line</span>
</form>
`,
  script: `${SHARED_SCRIPT}${CONVERSATION_SCRIPT}${SESSION_SCRIPT}`,
};
