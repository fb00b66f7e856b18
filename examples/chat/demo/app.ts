/** The agents, tools and workflows of the demo. Agents follow scripts, so that you need no model. */
import { defineAgent, defineApp, defineWorkflow, fixed, variable } from '@cairn/host';
import { dry, ledger, report, trip, whoami } from './tools.ts';

const greeter = defineAgent({
  id: 'host:greeter',
  persona: 'Greeter',
  instructions: 'You greet people and tell them what this demo can do.',
  rehearsal: {
    turns: [
      [
        { delay: 300 },
        { say: 'You wrote: “{{task}}”\n\nI follow a script, ' },
        { delay: 200 },
        { say: 'so I cannot say much about it. The requests below the conversation show what agents can do here.' },
      ],
    ],
  },
});

const planner = defineAgent({
  id: 'host:planner',
  persona: 'Planner',
  instructions: 'You plan trips. Ask what you need to know, then write the plan.',
  tools: [trip],
  rehearsal: {
    turns: [
      [
        { think: 'A trip. I have to know the dates and the wishes before I can plan it.' },
        { say: 'I look for a good route. ' },
        { delay: 300 },
        { say: 'Please tell me a little more about the trip.' },
        { call: { tool: 'demo:trip', input: { place: 'the coast' } } },
      ],
      [
        { say: 'Your plan is ready. ' },
        { delay: 200 },
        { say: 'You find it in plan.md above, and the stages in a table.' },
      ],
    ],
  },
});

const clerk = defineAgent({
  id: 'host:clerk',
  persona: 'Clerk',
  instructions: 'You look things up at the forge.',
  tools: [whoami],
  rehearsal: {
    turns: [
      [{ say: 'I ask the forge.' }, { call: { tool: 'demo:whoami' } }],
      [{ say: 'At the forge you are {{last.login}}.' }],
    ],
  },
});

const bookkeeper = defineAgent({
  id: 'host:bookkeeper',
  persona: 'Bookkeeper',
  instructions: 'You read the ledger of the user.',
  tools: [ledger],
  rehearsal: {
    turns: [
      [{ say: 'I open your ledger.' }, { call: { tool: 'demo:ledger' } }],
      [{ say: 'Your balance is {{last.balance}}.' }],
    ],
  },
});

/** `pick_color` is a tool of the page. */
const painter = defineAgent({
  id: 'host:painter',
  persona: 'Painter',
  instructions: 'You paint huts. Let the user pick the color.',
  tools: ['client:pick_color', dry],
  rehearsal: {
    turns: [
      [{ say: 'Which color shall it have?' }, { call: { tool: 'client:pick_color', input: { of: 'the hut' } } }],
      [{ say: 'I paint it, and wait until it is dry.' }, { call: { tool: 'demo:dry' } }],
      [{ say: 'The hut has its new color.' }],
    ],
  },
});

const scout = defineAgent({
  id: 'host:scout',
  persona: 'Scout',
  instructions: 'You look at the ground and report.',
  tools: [report],
  rehearsal: {
    turns: [
      [
        { think: 'North first: the south side is flooded after rain.' },
        { say: 'I walk the northern path.' },
        { call: { tool: 'demo:report' } },
      ],
      [{ say: 'The northern path is dry and open.' }],
    ],
  },
});

const captain = defineAgent({
  id: 'host:captain',
  persona: 'Captain',
  instructions: 'You sum up what the scouts found.',
  rehearsal: { turns: [[{ delay: 300 }, { say: 'The crew is back. ' }, { say: 'We take the northern path.' }]] },
});

const scouting = defineWorkflow({
  id: 'scouting',
  nodes: {
    scout: { type: 'cairn.agent', agent: { agentId: 'host:scout' }, inputs: { message: fixed('Find a way.') } },
  },
});

const crew = defineWorkflow({
  id: 'crew',
  variables: { message: { type: 'string' } },
  nodes: {
    send: { type: 'core.subWorkflow', config: { workflowId: 'scouting' } },
    decide: { type: 'cairn.agent', agent: { agentId: 'host:captain' }, inputs: { message: variable('message') } },
  },
});

export const app = defineApp({
  agents: [greeter, planner, clerk, bookkeeper, painter, scout, captain],
  tools: [trip, whoami, ledger, dry, report],
  workflows: [scouting, crew],
});
