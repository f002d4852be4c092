// Services of Azure beside the blobs, for one test: it makes the container, prints a shared access signature,
// and answers as the service of tokens and as the Resource Manager do. Arguments: certificate, key, port of
// the blobs, account, its key, container.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:https";

const [certificate, privateKey, blobs, account, accountKey, container] = process.argv.slice(2);
const host = `${account}.blob.core.windows.net`;
const sign = (text) => createHmac("sha256", Buffer.from(accountKey, "base64")).update(text, "utf8").digest("base64");

function makeContainer() {
  const date = new Date().toUTCString();
  const text = `PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${date}\nx-ms-version:2023-11-03\n/${account}/${container}\nrestype:container`;
  const headers = {
    host,
    "x-ms-date": date,
    "x-ms-version": "2023-11-03",
    "content-length": 0,
    authorization: `SharedKey ${account}:${sign(text)}`,
  };
  const options = { host: "127.0.0.1", port: blobs, method: "PUT", path: `/${container}?restype=container`, headers, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    request(options, (answer) => (answer.statusCode === 201 ? resolve() : reject(new Error(`${answer.statusCode}`)))).on("error", reject).end();
  });
}

// All permissions for containers and blobs, until an hour from now.
function signature() {
  const end = new Date(Date.now() + 3600000).toISOString().slice(0, 19) + "Z";
  const [version, services, kinds, permissions] = ["2020-08-04", "b", "sco", "rwdlacup"];
  const text = [account, permissions, services, kinds, "", end, "", "https,http", version, ""].join("\n");
  const fields = { sv: version, ss: services, srt: kinds, sp: permissions, se: end, spr: "https,http", sig: sign(text) };
  return new URLSearchParams(fields).toString();
}

function token(audience) {
  const now = Math.floor(Date.now() / 1000);
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { aud: audience, iss: "https://sts.windows.net/tenant-1/", iat: now, nbf: now - 60, exp: now + 3600, oid: "o", tid: "tenant-1" };
  return `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}.${Buffer.from("unsigned").toString("base64url")}`;
}

function answer(method, path, authorization, form) {
  if (path === "/tenant-1/oauth2/v2.0/token") {
    const known = form.get("client_secret") === "hush" || form.get("client_assertion") === "assertion-1";
    if (form.get("client_id") !== "client-1" || !known) {
      return [401, { error: "invalid_client", error_description: "AADSTS7000215: Invalid client secret provided." }];
    }
    const resource = form.get("scope").replace(/\/\.default$/, "");
    return [200, { token_type: "Bearer", expires_in: 3599, access_token: token(resource) }];
  }
  if (path === "/oidc") {
    return authorization === "Bearer request-1" ? [200, { value: "assertion-1" }] : [401, {}];
  }
  const subscription = `/subscriptions/sub-1/resourceGroups/group-1/providers/Microsoft.Storage/storageAccounts/${account}`;
  if (path.startsWith(subscription) && authorization?.startsWith("Bearer ")) {
    if (method === "POST") {
      return [200, { keys: [{ keyName: "key1", value: accountKey, permissions: "FULL" }] }];
    }
    return [200, { id: subscription, name: account, location: "here", kind: "StorageV2", properties: { primaryEndpoints: { blob: `https://${host}/` } } }];
  }
  return [404, { error: { code: "NotFound", message: path } }];
}

const options = { cert: readFileSync(certificate), key: readFileSync(privateKey) };
const server = createServer(options, (asked, answered) => {
  const body = [];
  asked.on("data", (part) => body.push(part));
  asked.on("end", () => {
    const path = asked.url.split("?")[0];
    const form = new URLSearchParams(Buffer.concat(body).toString());
    const [status, content] = answer(asked.method, path, asked.headers.authorization, form);
    answered.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
  });
});
await makeContainer();
server.listen(0, "127.0.0.1", () => console.log(`${server.address().port} ${signature()}`));
