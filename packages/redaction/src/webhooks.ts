/** The URLs of webhooks of known services: each is the credential to what it posts to. Pure. */

/** The part before the secret one, for each service. */
const beginnings = [
  "hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/",
  "discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/",
  "[\\w-]{1,80}\\.webhook\\.office\\.com/webhookb?\\d?/",
  "outlook\\.office(?:365)?\\.com/webhook/",
  "api\\.telegram\\.org/(?:file/)?bot(?=\\d)",
  "hooks\\.zapier\\.com/hooks/(?:catch|standard)/",
  "hook\\.(?:[\\w-]{1,20}\\.)?(?:make|integromat)\\.com/",
  "maker\\.ifttt\\.com/(?:use|trigger)/",
  "open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/(?:v2/)?hook/",
  "chat\\.googleapis\\.com/v1/spaces/[\\w-]{1,80}/messages\\?",
  "events\\.pagerduty\\.com/integration/",
  "api\\.opsgenie\\.com/v\\d/json/[\\w-]{1,40}\\?",
  "incoming\\.[\\w-]{1,40}\\.victorops\\.com/",
  "hc-ping\\.com/",
  "[\\w-]{1,80}\\.logic\\.azure\\.com(?::443)?/workflows/",
];

/** Source of a regular expression: the URL of a webhook, whose secret part is the group `value`. */
export const webhookPattern = `(?<![\\w.-])(?:${beginnings.join("|")})(?<value>[^\\s"'<>\`\\\\$\\{]{2,2048})`;
