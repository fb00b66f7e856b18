/** What `cairn dev` prints when it is ready: the key, and commands to try. */
import type { App } from '../../server/define-app.ts';
import { safe } from '../render/style.ts';

export interface Greeting {
  readonly url: string;
  /** A link that opens Studio once. */
  readonly studio: string;
  readonly key: string;
  readonly keyFile: string;
  /** Whether other commands find the host by themselves. */
  readonly isDefaultFolder: boolean;
  /** Whether npm started the command. Then `cairn` is not in PATH. */
  readonly isFromNpm: boolean;
  readonly people: readonly string[];
}

/** The workflows of an app that are shown at most. */
const MAX_SHOWN = 3;

/** With the sample workflows. */
export function sampleGreeting(greeting: Greeting): string {
  const { url, key } = greeting;
  const cairn = commandOf(greeting);
  return `
${studioLine(greeting)}
${keyLine(greeting)}
try it   ${cairn} run hello --input name=Ada     in another terminal${inThisFolder(greeting)}
         ${cairn} run review                     a run that asks you a question
         ${cairn} run research-crew --input topic="tidal power"     three agents at work
or       curl -s ${url}/v1/runs -H 'Authorization: Bearer ${key}' \\
           -H 'Content-Type: application/json' -d '{"workflowId":"hello","inputs":{"name":"Ada"}}'
`;
}

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
  `studio   ${greeting.studio}\n         opens once, within 10 minutes; "${commandOf(greeting)} studio" prints another link`;

const keyLine = ({ key, keyFile }: Greeting): string => `key      ${key}   (stored in ${keyFile})`;

const inThisFolder = ({ isDefaultFolder }: Greeting): string => (isDefaultFolder ? ', in this folder' : '');

const commandOf = ({ url, key, isDefaultFolder, isFromNpm }: Greeting): string =>
  `${isDefaultFolder ? '' : `CAIRN_URL=${url} CAIRN_KEY=${key} `}${isFromNpm ? 'npx ' : ''}cairn`;

const inputsOf = ({ variables }: App['workflows'][number]): string =>
  variables
    .filter(({ required }) => required === true)
    .map(({ name }) => ` --input ${safe(name)}=…`)
    .join('');
