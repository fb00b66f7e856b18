/** What `cairn dev` prints when it is ready: a link, commands to try, how to add a model. No key: screens are shared. */
import type { App } from '../../server/define-app.ts';
import { safe } from '../render/style.ts';

export interface Greeting {
  readonly url: string;
  /** A link that opens Studio once. */
  readonly studio: string;
  readonly keyFile: string;
  /** Whether other commands find the host by themselves. */
  readonly isDefaultFolder: boolean;
  /** Whether the runs of the demo were started just now. */
  readonly hasDemo: boolean;
  readonly hasModel: boolean;
  /** How the reader types the command. */
  readonly cairn: string;
  readonly people: readonly string[];
}

/** The workflows of an app that are shown at most. */
const MAX_SHOWN = 3;

/** With the sample workflows. */
export function sampleGreeting(greeting: Greeting): string {
  const cairn = commandOf(greeting);
  const tries = [
    greeting.hasDemo ? ['inbox', 'the question that waits for you'] : ['run review', 'a run that asks you a question'],
    ['run research-crew --input topic="tidal power"', 'three agents at work'],
    ['run hello --input name=Ada', 'the smallest run'],
  ] as const;
  const width = Math.max(...tries.map(([command]) => command.length));
  return `
${studioLine(greeting)}
${greeting.hasDemo ? DEMO : ''}try it   in another terminal${inThisFolder(greeting)}:
${tries.map(([command, meaning]) => `         ${cairn} ${command.padEnd(width)}   ${meaning}\n`).join('')}${
  greeting.hasModel ? '' : modelLines(greeting)
}${keyLine(greeting)}
`;
}

const DEMO = `demo     three runs of scripted agents: one has ended, one is running, one asks you a question
         they are started once, in a new folder; --no-demo starts without them
`;

const modelLines = (greeting: Greeting): string => {
  const dev = `${greeting.cairn} dev`;
  return `model    agents follow scripts until they have a model:
         OPENAI_API_KEY=… ${dev} --model openai/gpt-5     or anthropic/…, google/…
         ${dev} --model local/qwen3 --model-url http://localhost:11434/v1
`;
};

/** With the workflows of a program. */
export function appGreeting(greeting: Greeting, { workflows, agents }: App): string {
  const cairn = commandOf(greeting);
  const [agent] = agents;
  const runs = workflows.slice(0, MAX_SHOWN).map((workflow) => `run ${safe(workflow.id)}${inputsOf(workflow)}`);
  const tries = runs.length > 0 || agent === undefined ? runs : [`run ${safe(agent.agentId)}`];
  const [person] = greeting.people;
  const answers = person === undefined ? [] : [`answer RUN accept --as ${person}`];
  const lines = [...tries, ...answers].map((command) => `${cairn} ${command}`);
  const [first = `${cairn} --help`, ...rest] = lines;
  return `
${studioLine(greeting)}
${keyLine(greeting)}
try it   ${first}     in another terminal${inThisFolder(greeting)}
${rest.map((line) => `         ${line}\n`).join('')}`;
}

const studioLine = (greeting: Greeting): string =>
  `studio   ${greeting.studio}\n         opens once, within 10 minutes; "${commandOf(greeting)} studio" prints another link\ndocs     ${greeting.url}/docs`;

const keyLine = ({ keyFile }: Greeting): string => `key      in ${keyFile}, for programs that call this host`;

const inThisFolder = ({ isDefaultFolder }: Greeting): string => (isDefaultFolder ? ', in this folder' : '');

const commandOf = ({ url, keyFile, isDefaultFolder, cairn }: Greeting): string =>
  `${isDefaultFolder ? '' : `CAIRN_URL=${url} CAIRN_KEY=$(cat ${quoted(keyFile)}) `}${cairn}`;

/** For a shell. Most paths need no quotes. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${safe(path).replaceAll("'", "'\\''")}'`);

const inputsOf = ({ variables }: App['workflows'][number]): string =>
  variables
    .filter(({ required }) => required === true)
    .map(({ name }) => ` --input ${safe(name)}=…`)
    .join('');
