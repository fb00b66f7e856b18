/** Pictures of a run among others: agents, people, other hosts, tenants. */
import type { Picture } from './picture.ts';

export const agents: Picture = {
  name: 'agents',
  title:
    'A model proposes a tool call. Cairn checks it against four lists. Only if all four allow the tool is the request recorded and the tool called; otherwise the refusal goes back to the model.',
  height: 270,
  boxes: [
    { at: [16, 96, 116, 60], text: ['Model', 'wants pay(42)'], kind: 'accent' },
    { at: [176, 28, 230, 200], text: ['may it?'], kind: 'group' },
    ...["the tenant's policy", 'what the host offers', "the agent's own list", 'the ceiling of the run'].map(
      (text, at) => ({
        at: [192, 60 + at * 40, 198, 30] as const,
        text: [text],
      }),
    ),
    { at: [452, 40, 120, 60], text: ['Recorded', 'agent.toolCalled'], kind: 'working' },
    { at: [612, 40, 92, 60], text: ['Tool', 'runs once'], kind: 'done' },
    { at: [452, 164, 252, 56], text: ['Refused, and recorded', 'the model is told why'], kind: 'failed' },
  ],
  arrows: [
    {
      path: [
        [132, 126],
        [176, 126],
      ],
    },
    {
      path: [
        [406, 70],
        [452, 70],
      ],
      text: 'all',
    },
    {
      path: [
        [572, 70],
        [612, 70],
      ],
    },
    {
      path: [
        [406, 192],
        [452, 192],
      ],
      text: 'any no',
      textAt: [429, 184],
    },
    {
      path: [
        [578, 220],
        [578, 250],
        [74, 250],
        [74, 156],
      ],
      dashed: true,
    },
  ],
};

export const questions: Picture = {
  name: 'questions',
  title:
    'A run that needs a person writes a question to its log and leaves memory. The question waits in the inbox, through restarts, until somebody answers, it expires, or its run is cancelled. The answer is an event, and the run goes on.',
  height: 250,
  boxes: [
    { at: [16, 40, 130, 60], text: ['Run', 'asks'], kind: 'working' },
    { at: [206, 40, 160, 60], text: ['Question', 'interrupt.requested'], kind: 'waiting' },
    { at: [426, 40, 130, 60], text: ['Inbox', 'of the tenant'], kind: 'waiting' },
    { at: [604, 40, 100, 60], text: ['Person', 'or a program'], kind: 'accent' },
    { at: [206, 164, 160, 60], text: ['Run at rest', 'no memory, no CPU'] },
    { at: [426, 164, 130, 60], text: ['Answer', 'an event'], kind: 'done' },
    { at: [16, 164, 130, 60], text: ['Run', 'goes on'], kind: 'working' },
  ],
  arrows: [
    {
      path: [
        [146, 70],
        [206, 70],
      ],
    },
    {
      path: [
        [366, 70],
        [426, 70],
      ],
    },
    {
      path: [
        [556, 70],
        [604, 70],
      ],
    },
    {
      path: [
        [286, 100],
        [286, 164],
      ],
    },
    {
      path: [
        [654, 100],
        [654, 194],
        [556, 194],
      ],
      text: 'checked',
      textAt: [604, 186],
    },
    {
      path: [
        [426, 194],
        [366, 194],
      ],
    },
    {
      path: [
        [206, 194],
        [146, 194],
      ],
    },
  ],
};

export const causes: Picture = {
  name: 'causes',
  title:
    'Each event names the event that caused it. A call to another host carries the trace id and the cause, so the chain goes on there. Each host keeps its own log; cairn why walks the chain from host to host.',
  height: 260,
  boxes: [
    { at: [16, 24, 330, 212], text: ['host shop'], kind: 'group' },
    { at: [374, 24, 330, 212], text: ['host bank'], kind: 'group' },
    { at: [36, 60, 130, 52], text: ['message', 'order 17'], kind: 'accent' },
    { at: [196, 60, 130, 52], text: ['agent.toolCalled', 'bank.charge'], kind: 'working' },
    { at: [394, 60, 130, 52], text: ['run.started', 'cause: shop, 17'], kind: 'working' },
    { at: [554, 60, 130, 52], text: ['approval', 'asked'], kind: 'waiting' },
    { at: [554, 164, 130, 52], text: ['run.completed'], kind: 'done' },
    { at: [186, 164, 150, 52], text: ['agent.toolReturned'], kind: 'done' },
  ],
  arrows: [
    {
      path: [
        [166, 86],
        [196, 86],
      ],
    },
    {
      path: [
        [326, 86],
        [394, 86],
      ],
      text: 'MCP, A2A',
      textAt: [360, 78],
    },
    {
      path: [
        [524, 86],
        [554, 86],
      ],
    },
    {
      path: [
        [619, 112],
        [619, 164],
      ],
    },
    {
      path: [
        [554, 190],
        [336, 190],
      ],
      text: 'result, same trace',
      textAt: [440, 182],
    },
  ],
};

export const tenants: Picture = {
  name: 'tenants',
  title:
    'Every key belongs to a tenant. Runs, questions, agents and files of one tenant do not exist for another. Tenants take turns at the engine, and each has limits, so that one cannot take the share of another.',
  height: 280,
  boxes: [
    { at: [16, 32, 120, 44], text: ['key of Ada'], kind: 'accent' },
    { at: [16, 92, 120, 44], text: ['key of Ben'], kind: 'accent' },
    { at: [16, 200, 120, 44], text: ['key of Eve'], kind: 'accent' },
    { at: [196, 20, 250, 128], text: ['tenant acme'], kind: 'group' },
    { at: [216, 52, 100, 36], text: ['runs'] },
    { at: [326, 52, 100, 36], text: ['inbox'] },
    { at: [216, 98, 100, 36], text: ['agents'] },
    { at: [326, 98, 100, 36], text: ['artifacts'] },
    { at: [196, 172, 250, 92], text: ['tenant globex'], kind: 'group' },
    { at: [216, 206, 100, 36], text: ['runs'] },
    { at: [326, 206, 100, 36], text: ['inbox'] },
    { at: [510, 84, 80, 110], text: ['Turns', 'one each'], kind: 'working' },
    { at: [630, 112, 74, 54], text: ['Engine'], kind: 'done' },
  ],
  arrows: [
    {
      path: [
        [136, 54],
        [196, 70],
      ],
    },
    {
      path: [
        [136, 114],
        [196, 98],
      ],
    },
    {
      path: [
        [136, 222],
        [196, 222],
      ],
    },
    {
      path: [
        [136, 210],
        [196, 140],
      ],
      text: '404',
      textAt: [150, 168],
      dashed: true,
    },
    {
      path: [
        [446, 84],
        [478, 84],
        [478, 120],
        [510, 120],
      ],
    },
    {
      path: [
        [446, 218],
        [478, 218],
        [478, 160],
        [510, 160],
      ],
    },
    {
      path: [
        [590, 139],
        [630, 139],
      ],
    },
  ],
};
