import type { Requirement } from '../requirements.ts';

const file = 'docs/plugins.md';

/** What is promised of plugins. */
export const pluginRequirements: readonly Requirement[] = [
  {
    id: 'PLUG-01',
    text: 'Each plugin has a worker thread and an instance of its own, whose memory is bounded by 64 MiB.',
    source: `${file}, Limits`,
  },
  {
    id: 'PLUG-02',
    text: "A call runs for ten seconds at most, by two clocks: an interrupt with a clean error, and the engine's, which no loop outlasts.",
    source: `${file}, Limits`,
  },
  {
    id: 'PLUG-03',
    text: 'Waiting for host functions buys no time to run; how many are waited for at once, in one call and how long is limited.',
    source: `${file}, Limits`,
  },
  {
    id: 'PLUG-04',
    text: 'Three stops within a day switch a plugin off, with the reason, across restarts, until a person switches it on.',
    source: `${file}, Limits`,
  },
  {
    id: 'PLUG-05',
    text: 'Whatever a plugin does ends its own worker at most: the engine and every other plugin go on.',
    source: `${file}, Limits`,
  },
  {
    id: 'PLUG-06',
    text: 'Only JSON crosses: nothing of the engine can be reached from what a plugin is given, and nothing a plugin gives changes the engine.',
    source: `${file}, Functions and their schemas`,
  },
  {
    id: 'PLUG-07',
    text: 'Inputs and outputs are checked against the schemas of plugin.json, in bounded time; an unknown keyword is an error.',
    source: `${file}, Functions and their schemas`,
  },
  {
    id: 'PLUG-08',
    text: 'fetch reaches accepted hosts only: every redirect anew, every resolved address checked and pinned, private ones only where listed outright.',
    source: `${file}, fetch`,
  },
  {
    id: 'PLUG-09',
    text: 'A plugin stores within its own app only, and within its quota.',
    source: `${file}, What a plugin has`,
  },
  {
    id: 'PLUG-10',
    text: 'A host function does only what the accepted permissions allow, whatever the plugin says of itself.',
    source: `${file}, What a plugin has`,
  },
  {
    id: 'PLUG-11',
    text: 'fetch sends nothing of this computer along, bounds the answer, and writes every request to the network log.',
    source: `${file}, fetch`,
  },
  {
    id: 'PLUG-12',
    text: 'A plugin runs only while a call is under way; without one its worker costs nothing and ends.',
    source: `${file}, Limits`,
  },
  {
    id: 'PLUG-13',
    text: 'app.json and plugin.json are read strictly, and say exactly what is asked for.',
    source: `${file}, A first plugin`,
  },
  {
    id: 'PLUG-14',
    text: 'A plugin imports the frozen modules of its own folder and nothing else.',
    source: `${file}, A first plugin`,
  },
  {
    id: 'PLUG-15',
    text: 'plugin.json wishes for values in requests to whole hosts that the plugin may reach, and for nothing else.',
    source: `${file}, Values of the vault`,
  },
];
