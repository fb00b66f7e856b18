/** A page as a user of AG-UI writes one: the published `HttpAgent`. A reload repeats the last run of its thread. */
import { HttpAgent, type ResumeEntry } from '@ag-ui/client';

interface Settings {
  readonly api: string;
  readonly bearer: string;
  readonly threadId: string;
}

const settings: Settings = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const { api, bearer, threadId } = settings;
const agent = new HttpAgent({ url: api, headers: { authorization: `Bearer ${bearer}` }, threadId });

const made = <Name extends keyof HTMLElementTagNameMap>(name: Name, text = '', className = '') =>
  Object.assign(document.createElement(name), { textContent: text, className });

const input = Object.assign(made('input'), { id: 'text' });
const talk = made('main');
const status = Object.assign(made('p'), { id: 'status' });
const form = made('form');
form.append(input);
document.body.append(status, talk, form);

/** Pieces of text that came since the page was loaded. */
let pieces = 0;

function show(): void {
  const said = agent.messages.flatMap(({ role, content }) =>
    typeof content === 'string' && content !== '' ? made('p', `${role}: ${content}`, 'said') : [],
  );
  const asked = agent.pendingInterrupts.map(({ id, message }) => {
    const button = made('button', message, 'answer');
    button.onclick = () => void run({ resume: [{ interruptId: id, status: 'resolved', payload: 'Basel' }] });
    return button;
  });
  talk.replaceChildren(...said, ...asked);
  talk.dataset.pieces = String(pieces);
}

agent.subscribe({
  onTextMessageContentEvent: () => {
    pieces += 1;
  },
  onMessagesChanged: show,
});

/** The page keeps the id of its last run, so that it can repeat it: the host then begins nothing. */
async function run(more: { readonly runId?: string; readonly resume?: ResumeEntry[] } = {}): Promise<void> {
  const { runId = crypto.randomUUID() } = more;
  sessionStorage.setItem(threadId, runId);
  status.textContent = 'working';
  try {
    await agent.runAgent({ ...more, runId });
    status.textContent = 'ready';
  } catch (error) {
    status.textContent = `error: ${String(error)}`;
  }
  show();
}

form.onsubmit = (event) => {
  event.preventDefault();
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: input.value });
  input.value = '';
  void run();
};

const last = sessionStorage.getItem(threadId);
if (last !== null) void run({ runId: last });
