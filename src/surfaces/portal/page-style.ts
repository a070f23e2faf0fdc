/** The style sheet of both pages. */
export const PAGE_STYLE = String.raw`
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --raised: #ffffff; --sunken: #f1f1ee; --line: #dcdcd6;
  --ink: #1c1d1a; --faint: #63655d; --accent: #1f5fbf; --on-accent: #ffffff;
  --user: #e6eefb; --good: #1d7a3e; --bad: #b3261e; --wait: #8a5a00; --wait-ground: #fff6e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #161715; --raised: #1e201d; --sunken: #262824; --line: #3a3d37;
    --ink: #ececec; --faint: #a2a59b; --accent: #8ab4f8; --on-accent: #10203a;
    --user: #22314a; --good: #7bd197; --bad: #ff8f86; --wait: #f3c668; --wait-ground: #33290f;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
header, main, form.composer { width: 100%; max-width: 52rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; align-items: baseline; gap: 0.5rem 0.9rem; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
header h1 { flex: 1 1 12rem; }
main { flex: 1; }
.faint { color: var(--faint); font-size: 0.875rem; overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
button, select, textarea { font: inherit; color: inherit; }
button {
  padding: 0.4rem 0.9rem; border: 1px solid var(--line); border-radius: 0.5rem;
  background: var(--raised); cursor: pointer; min-height: 2.5rem;
}
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled { opacity: 0.55; cursor: not-allowed; }
select { padding: 0.4rem 0.5rem; min-height: 2.5rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--raised); }
button.main { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
pre {
  margin: 0.25rem 0 0; padding: 0.5rem 0.7rem; max-height: 18rem; overflow: auto;
  background: var(--sunken); border-radius: 0.4rem;
  font: 0.85rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.notice { margin: 0 0 0.75rem; padding: 0.5rem 0.8rem; border-radius: 0.5rem; background: var(--sunken); color: var(--faint); font-size: 0.9rem; }
.notice.bad { color: var(--bad); }

.connection { font-size: 0.875rem; color: var(--faint); white-space: nowrap; }
.connection::before { content: "●"; margin-right: 0.35rem; color: var(--wait); }
.connection.live::before { color: var(--good); }
.connection.gone::before { color: var(--bad); }

.said { white-space: pre-wrap; overflow-wrap: anywhere; }
.message { margin: 0 0 1rem; }
.message:empty { display: none; }
.message.agent > * + * { margin-top: 0.6rem; }
.message.user { background: var(--user); border-radius: 0.8rem; padding: 0.55rem 0.9rem; margin-left: auto; width: fit-content; max-width: 85%; }
.message .who { display: block; color: var(--faint); font-size: 0.8rem; }
.message.cut .said::after { content: " ⋯ interrupted"; color: var(--faint); font-size: 0.85rem; }
.message.withdrawn .said { text-decoration: line-through; opacity: 0.7; }
details.thought { color: var(--faint); font-size: 0.9rem; }
details.thought > .said { border-left: 2px solid var(--line); padding-left: 0.75rem; margin-top: 0.25rem; }
summary { cursor: pointer; }

.tool { border: 1px solid var(--line); border-radius: 0.6rem; background: var(--raised); padding: 0.55rem 0.8rem; }
.tool > summary { display: flex; gap: 0.75rem; align-items: baseline; list-style: none; }
.conversation > .tool { margin: 0 0 1rem; }
.tool > summary::-webkit-details-marker { display: none; }
.tool > summary::before { content: "▸"; color: var(--faint); }
.tool[open] > summary::before { content: "▾"; }
.tool .name { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9rem; font-weight: 600; overflow-wrap: anywhere; flex: 1; min-width: 0; }
.state { font-size: 0.85rem; color: var(--faint); }
.state.good { color: var(--good); } .state.bad { color: var(--bad); } .state.wait { color: var(--wait); }
.label { margin-top: 0.5rem; color: var(--faint); font-size: 0.8rem; }

.approval { margin: 0.6rem 0 0.25rem; padding: 0.6rem 0.8rem; border: 1px solid var(--wait); border-radius: 0.6rem; background: var(--wait-ground); }
.conversation > .approval { margin: 0 0 1rem; }
.approval.over { border-color: var(--line); background: none; color: var(--faint); font-size: 0.9rem; }
.approval p { margin: 0 0 0.5rem; overflow-wrap: anywhere; }
.approval.over p { margin: 0; }
.approval pre { margin-bottom: 0.6rem; }
.approval .asked { font-weight: 600; white-space: pre-wrap; }
.approval .risk { color: var(--bad); }
.approval .problem:empty { display: none; }
.approval .problem { margin: 0.4rem 0 0; }
.tool .problem { margin-top: 0.4rem; }
.approval .choices { display: flex; flex-wrap: wrap; gap: 0.5rem; }

.note { margin: 0 0 1rem; color: var(--faint); font-size: 0.85rem; text-align: center; overflow-wrap: anywhere; }
.note.bad { color: var(--bad); }

form.composer { position: sticky; bottom: 0; background: var(--ground); border-top: 1px solid var(--line); }
.composer .row { display: flex; gap: 0.5rem; align-items: flex-end; }
.composer textarea {
  flex: 1; min-width: 0; resize: none; padding: 0.5rem 0.75rem; max-height: 40vh; field-sizing: content; min-height: 2.5rem;
  border: 1px solid var(--line); border-radius: 0.6rem; background: var(--raised);
}
.composer .above { display: flex; gap: 0.75rem; flex-wrap: wrap; align-items: baseline; margin-bottom: 0.4rem; }
.composer .above:not(:has(> :not([hidden]))) { display: none; }
.composer .waiting { color: var(--wait); border-color: var(--wait); background: var(--wait-ground); padding: 0.15rem 0.7rem; min-height: 0; }
.problem { color: var(--bad); font-size: 0.9rem; margin: 0; }

.raw { margin-top: 1.5rem; border-top: 1px solid var(--line); padding-top: 0.5rem; }
.raw ol { list-style: none; margin: 0.5rem 0 0; padding: 0; font-size: 0.85rem; }
.raw summary { color: var(--faint); }

.sessions { list-style: none; margin: 0; padding: 0; }
.sessions li { border-bottom: 1px solid var(--line); }
.sessions a { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0.7rem 0.25rem; text-decoration: none; color: inherit; align-items: baseline; }
.sessions a:hover { background: var(--sunken); }
.sessions .title { flex: 1 1 14rem; font-weight: 600; overflow-wrap: anywhere; }
@media (max-width: 30rem) {
  header, main, form.composer { padding-left: 0.75rem; padding-right: 0.75rem; }
  .message.user { max-width: 95%; }
}
`;
