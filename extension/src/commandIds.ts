/** Every command of the manifest, and no other: `test/unit/extension/manifest.test.ts` compares the two. */
export const commandIds = [
  'sallyport.runProject',
  'sallyport.runCard',
  'sallyport.runWithoutCache',
  'sallyport.dryRun',
  'sallyport.cancelRun',
  'sallyport.reviewPermissions',
  'sallyport.revokePermission',
  'sallyport.openCanvas',
  'sallyport.openRun',
  'sallyport.openManifest',
  'sallyport.openCode',
  'sallyport.whyRunAgain',
  'sallyport.openEgressLog',
  'sallyport.cleanUp',
  'sallyport.doctor',
  'sallyport.showLog',
  'sallyport.newProject',
  'sallyport.loadMoreRuns',
  'sallyport.restartEngine',
  'sallyport.connectModel',
  'sallyport.manageConnections',
  'sallyport.reviewWaiting',
  'sallyport.showGrants',
  'sallyport.wouldThisAsk',
  'sallyport.showSent',
  'sallyport.openTimeline',
  'sallyport.undoChanges',
  'sallyport.redoChanges',
  'sallyport.openChange',
  'sallyport.loadMoreChanges',
  'sallyport.openWorkbench',
  'sallyport.newConversation',
  'sallyport.openWorkbenchEditor',
  'sallyport.managePresence',
  'sallyport.installApp',
  'sallyport.importApp',
  'sallyport.openApp',
  'sallyport.browseApps',
  'sallyport.checkAppUpdates',
  'sallyport.reviewAppUpdate',
  'sallyport.switchPluginOn',
  'sallyport.switchPluginOff',
  'sallyport.removePlugin',
  'sallyport.deleteApp',
  'sallyport.restoreApp',
  'sallyport.exportApp',
  'sallyport.openAppLog',
] as const;

export type CommandId = (typeof commandIds)[number];

/** The views of the manifest. */
export const viewIds = {
  cards: 'sallyport.cards',
  runs: 'sallyport.runs',
  timeline: 'sallyport.timeline',
  apps: 'sallyport.apps',
  workbench: 'sallyport.workbench',
} as const;

/** The context keys that the manifest's `when` clauses read. */
export const contextKeys = ['sallyport.hasProject', 'sallyport.running', 'sallyport.engineStopped'] as const;
export type ContextKey = (typeof contextKeys)[number];
