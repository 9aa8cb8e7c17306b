"""A client that knows only nats-py and the documented API: python3 client.py nats://HOST:PORT

Plays a user's day with memlog and then every documented mistake. Ends with 0 when each reply is as the
documentation says, else with the first difference. It is also an example of how to call memlog from Python.
"""

import asyncio
import json
import sys
import uuid

import nats
from nats.errors import NoRespondersError

CODES = {
    400: "invalid_request_error", 404: "not_found_error", 409: "conflict_error",
    503: "unavailable_error", 504: "timeout_error",
}


class Refused(Exception):
    """A call that failed, as the documentation describes it."""

    def __init__(self, code, error):
        super().__init__(f"{code} {error}")
        self.code, self.error = code, error


class Memlog:
    def __init__(self, connection, namespace="acme", headers=None):
        self.connection, self.namespace, self.headers = connection, namespace, headers or {}

    async def raw(self, verb, body, headers=None):
        return await self.connection.request(
            f"memlog.v1.{self.namespace}.{verb}", body, timeout=60, headers={**self.headers, **(headers or {})} or None)

    async def call(self, verb, headers=None, **request):
        return self.read(await self.raw(verb, json.dumps(request).encode(), headers))

    @staticmethod
    def read(message):
        headers = message.headers or {}
        body = json.loads(message.data)
        if "Nats-Service-Error-Code" in headers:
            code = int(headers["Nats-Service-Error-Code"])
            assert headers["Nats-Service-Error"], "a failure has a message in its header"
            assert body["type"] == "error" and body["error"]["type"] == CODES[code], body
            assert body["error"]["message"], body
            raise Refused(code, body["error"])
        assert isinstance(body, dict), body
        return body


async def refused(calling, code, **fields):
    try:
        reply = await calling
    except Refused as refusal:
        assert refusal.code == code, f"expected {code}: {refusal}"
        for name, value in fields.items():
            found = refusal.error.get(name)
            assert found == value, f"expected {name} {value!r}: {refusal}"
        return refusal.error
    raise AssertionError(f"expected {code}, got {reply}")


def turn(role, content, **more):
    return {"role": role, "content": content, **more}


async def discovers(connection):
    info = json.loads((await connection.request("$SRV.INFO.memlog", b"", timeout=10)).data)
    subjects = {endpoint["subject"] for endpoint in info["endpoints"]}
    for verb in ("profile.ingest", "profile.recall", "speaker.add", "job.list", "audit.verify"):
        assert f"memlog.v1.*.{verb}" in subjects, verb
    assert json.loads((await connection.request("$SRV.PING.memlog", b"", timeout=10)).data)["name"] == "memlog"


async def converses(memlog):
    got = (await memlog.call("profile.get", profile="maria"))["profile"]
    assert got["name"] == "maria" and got["messages"] == 0, got
    talk = [
        turn("user", "I moved to Lisbon in March 2024 with my dog Bruno.", timestamp="2024-04-02T10:00:00Z"),
        turn("assistant", "Lisbon is lovely. How does Bruno like it?"),
        turn("user", "My sister Carla works as a marine biologist in Porto."),
    ]
    sent = await memlog.call("profile.ingest", profile="maria", messages=talk, session_id="first", wait=True)
    assert sent["session_id"] == "first" and sent["accepted"] == 3 and sent["duplicates"] == 0, sent
    assert len(sent["message_ids"]) == 3 and sent["job_state"] == "done", sent
    again = await memlog.call("profile.ingest", profile="maria", messages=talk, session_id="first", wait=True)
    assert again["accepted"] == 0 and again["duplicates"] == 3, again
    assert again["message_ids"] == sent["message_ids"], again
    more = talk + [turn("user", "Carla will visit me in June.")]
    more = await memlog.call("profile.ingest", profile="maria", messages=more, session_id="first")
    assert more["accepted"] == 1 and more["duplicates"] == 3, more
    assert await memlog.call("profile.wait", profile="maria", job_id=more["job_id"]) == {}
    assert await memlog.call("profile.wait", profile="maria") == {}
    added = await memlog.call("profile.add_turn", profile="maria", user="Bruno is afraid of thunder.",
                              assistant="Poor Bruno.", session_id="second")
    assert added["accepted"] == 2, added
    job = (await memlog.call("job.get", job_id=sent["job_id"]))["job"]
    assert job["state"] == "done" and job["profile"] == "maria" and job["session_id"] == "first", job
    await memlog.call("profile.wait", profile="maria")
    jobs = (await memlog.call("job.list", profile="maria", state="done"))["jobs"]
    assert sent["job_id"] in [job["job_id"] for job in jobs], jobs


async def remembers_and_finds(memlog):
    stored = await memlog.call(
        "profile.remember", profile="maria", content="Maria is allergic to peanuts", type="fact",
        metadata={"source": "form"}, timestamp="2026-01-02T03:04:05")
    assert stored["status"] == "stored", stored
    memory = stored["memory"]
    assert memory["type"] == "fact" and memory["content"] == "Maria is allergic to peanuts", memory
    assert memory["timestamp"].startswith("2026-01-02T03:04:05") and memory["timestamp"].endswith("Z"), memory
    assert memory["metadata"] == {"source": "form"} and memory["status"] == "valid" and memory["version"] == 1
    twin = await memlog.call("profile.remember", profile="maria", content="Maria is allergic to peanuts")
    assert twin["status"] == "duplicate" and twin["duplicate_of"] == memory["id"], twin
    news = await memlog.call("profile.remember", profile="maria", content="Maria is allergic to shellfish")
    assert news["status"] == "stored", news

    found = await memlog.call("profile.search", profile="maria", query="allergic to peanuts", limit=5)
    assert found["memories"][0]["id"] == memory["id"] and found["memories"][0]["score"] > 0, found
    only = await memlog.call("profile.search", profile="maria", query="allergic", metadata_filter={"source": "form"})
    assert [hit["id"] for hit in only["memories"]] == [memory["id"]], only
    session = await memlog.call("profile.search", profile="maria", query="Bruno", session_id="second")
    assert session["memories"] and all(hit["session_id"] == "second" for hit in session["memories"]), session
    answer = await memlog.call("profile.recall", profile="maria", query="Where does Carla work?")
    assert answer["count"] == len(answer["candidates"]) > 0 and answer["answer"], answer
    assert "Porto" in json.dumps(answer), answer
    summary = (await memlog.call("profile.summary", profile="maria"))["summary"]
    assert "Last Session" in summary, summary
    one = (await memlog.call("profile.memory", profile="maria", memory_id=memory["id"]))["memory"]
    assert one["content"] == memory["content"], one
    return memory


async def pages(memlog):
    for number in range(7):
        await memlog.call("profile.remember", profile="pages", content=f"Page number {number} is about topic {number}",
                          type="fact", dedupe=False)
    seen, cursor = [], None
    while True:
        page = await memlog.call("profile.memories", profile="pages", limit=3, **({"cursor": cursor} if cursor else {}))
        assert len(page["memories"]) <= 3 and all("content" not in memory for memory in page["memories"]), page
        seen += [memory["id"] for memory in page["memories"]]
        # What is written between two pages neither moves nor repeats anything.
        await memlog.call("profile.remember", profile="pages", content=f"Written after {len(seen)}", dedupe=False)
        cursor = page.get("cursor")
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 7, seen
    profiles = await memlog.call("profile.list", limit=1)
    assert len(profiles["profiles"]) == 1 and profiles["cursor"], profiles


async def corrects_and_forgets(memlog, memory):
    stats = await memlog.call("audit.stats")
    before = stats["head"]["seq"]
    newer = (await memlog.call("profile.supersede", profile="maria", memory_id=memory["id"],
                               content="Maria is allergic to hazelnuts"))["memory"]
    assert newer["id"] != memory["id"] and newer["type"] == "fact", newer
    error = await refused(memlog.call("profile.supersede", profile="maria", memory_id=memory["id"], content="x"), 409)
    assert error["superseded_by"] == newer["id"], error
    old = (await memlog.call("profile.memory", profile="maria", memory_id=memory["id"]))["memory"]
    assert old["status"] == "invalid" and old["superseded_by"] == newer["id"], old
    then = (await memlog.call("profile.memory", profile="maria", memory_id=memory["id"], as_of={"seq": before}))["memory"]
    assert then["status"] == "valid" and then["superseded_by"] is None, then
    past = await memlog.call("profile.search", profile="maria", query="allergic to peanuts", as_of={"seq": before})
    assert past["memories"][0]["id"] == memory["id"], past
    history = (await memlog.call("profile.history", profile="maria", memory_id=memory["id"]))["events"]
    assert [event["type"] for event in history][0] == "saved", history

    gone = (await memlog.call("profile.forget", profile="maria", memory_id=newer["id"]))["memory"]
    assert gone["content"] == "Maria is allergic to hazelnuts", gone
    after = (await memlog.call("audit.stats"))["head"]["seq"]
    for as_of in ({}, {"as_of": {"seq": after - 1}}):
        await refused(memlog.call("profile.memory", profile="maria", memory_id=newer["id"], **as_of), 404)
        found = await memlog.call("profile.search", profile="maria", query="allergic to hazelnuts", **as_of)
        assert "hazelnut" not in json.dumps(found), found
    assert await memlog.call("profile.delete_session", profile="maria", session_id="second") == {}
    assert await memlog.call("profile.delete_session", profile="maria", session_id="second") == {}
    found = await memlog.call("profile.search", profile="maria", query="Bruno is afraid of thunder")
    assert "thunder" not in json.dumps(found["memories"]), found
    assert await memlog.call("profile.delete", profile="pages") == {}
    assert await memlog.call("profile.delete", profile="pages") == {}
    await refused(memlog.call("profile.memories", profile="pages"), 404)


async def audits(memlog):
    events = (await memlog.call("audit.events", limit=500))["events"]
    numbers = [event["seq"] for event in events]
    assert numbers == sorted(set(numbers)), numbers
    types = {event["type"] for event in events}
    assert {"saved", "forgot", "superseded", "message_appended", "extraction_requested", "extraction_completed"} <= types, types
    assert "peanut" not in json.dumps(events), "the log tells no content"
    tail = (await memlog.call("audit.events", from_seq=numbers[-1]))["events"]
    assert tail[0]["seq"] == numbers[-1], tail
    only = (await memlog.call("audit.events", profile="maria", types=["forgot"], limit=500))["events"]
    assert only and all(event["type"] == "forgot" and event["profile"] == "maria" for event in only), only
    verified = await memlog.call("audit.verify")
    assert verified["ok"] and verified["events"] > 0 and "first_break" not in verified, verified
    kept = await memlog.call("audit.verify", expect=verified["head"])
    assert kept["ok"], kept
    forged = {"seq": verified["head"]["seq"], "hash": "0" * 64}
    assert not (await memlog.call("audit.verify", expect=forged))["ok"]
    exported = await memlog.call("audit.export", limit=5)
    assert len([json.loads(line) for line in exported["lines"].splitlines()]) == 5 and exported["next_seq"] > 0, exported


async def repeats(memlog):
    key = {"Nats-Msg-Id": uuid.uuid4().hex}
    request = json.dumps({"profile": "keys", "content": "Said once", "dedupe": False}).encode()
    first = await memlog.raw("profile.remember", request, key)
    second = await memlog.raw("profile.remember", request, key)
    assert (first.headers or {}).get("Memlog-Replayed") is None, first.headers
    assert second.headers["Memlog-Replayed"] == "true", second.headers
    assert json.loads(first.data) == json.loads(second.data)
    listed = await memlog.call("profile.memories", profile="keys")
    assert len(listed["memories"]) == 1, listed
    await refused(memlog.call("profile.remember", key, profile="keys", content="Said otherwise"), 409)
    await refused(memlog.call("profile.delete", key, profile="keys"), 409)
    await refused(memlog.call("profile.remember", {**key, "Memlog-User": "eve"}, profile="keys", content="Said once",
                              dedupe=False), 409)
    memory = json.loads(first.data)["memory"]
    await memlog.call("profile.forget", profile="keys", memory_id=memory["id"])
    third = json.loads((await memlog.raw("profile.remember", request, key)).data)["memory"]
    assert third["id"] == memory["id"] and third["content"] is None and third["summary"] is None, third


async def speaks(memlog):
    added = await memlog.call("speaker.add", profile="family", speaker=" Zoë ")
    assert added["speaker"]["speaker"] == "Zoë", added
    await memlog.call("speaker.add", profile="family", speaker="Zoë")
    listed = await memlog.call("speaker.list", profile="family")
    assert listed["count"] == 1 and listed["limit"] == 50, listed
    tagged = await memlog.call("profile.remember", profile="family", content="I like figs", speaker="Zoë")
    assert tagged["memory"]["speaker"] == "Zoë", tagged
    found = await memlog.call("profile.search", profile="family", query="figs", speaker="Zoë")
    assert [hit["id"] for hit in found["memories"]] == [tagged["memory"]["id"]], found
    await refused(memlog.call("profile.search", profile="family", query="figs", speaker="Max"), 404, speaker="Max")
    await refused(memlog.call("profile.remember", profile="family", content="x y", speaker="Max"), 400, speaker="Max")
    await refused(memlog.call("speaker.add", profile="family", speaker="me"), 400)
    await refused(memlog.call("speaker.add", profile="family", speaker="ME"), 400)
    await memlog.call("speaker.remove", profile="family", speaker="Zoë")
    await refused(memlog.call("speaker.remove", profile="family", speaker="Zoë"), 404, speaker="Zoë")
    kept = (await memlog.call("profile.memory", profile="family", memory_id=tagged["memory"]["id"]))["memory"]
    assert kept["speaker"] is None and kept["content"] == "I like figs", kept


async def is_refused(memlog, connection):
    get, ingest, remember = "profile.get", "profile.ingest", "profile.remember"
    await refused(memlog.call(get, profle="a"), 400, field="profle")
    await refused(memlog.call(get), 400, field="profile")
    await refused(memlog.call(get, profile=7), 400, field="profile")
    await refused(memlog.call(get, profile="a\u0007"), 400, field="profile")
    await refused(memlog.call(get, profile="p" * 101), 400, field="profile", limit=100)
    await memlog.call(get, profile="ü" * 100)
    for broken in (b"[]", b"null", b"{", b'{"profile":"a"} x', b"\xff", b'{"profile":NaN}'):
        try:
            memlog.read(await memlog.raw(get, broken))
            raise AssertionError(f"accepted: {broken}")
        except Refused as refusal:
            assert refusal.code == 400, refusal
    hello = turn("user", "Hello there, I am a message")
    await refused(memlog.call(ingest, profile="m", messages=[{"rol": "user", "content": "x"}]), 400,
                  field="messages[0].rol")
    await refused(memlog.call(ingest, profile="m", messages=[]), 400, field="messages")
    many = [turn("user", f"Message number {number}") for number in range(501)]
    await refused(memlog.call(ingest, profile="m", messages=many), 400, field="messages", limit=500)
    await refused(memlog.call(ingest, profile="m", messages=[hello], session_id="s" * 65), 400, field="session_id", limit=64)
    long = turn("user", "é" * 16_385)
    error = await refused(memlog.call(ingest, profile="m", messages=[hello, long]), 400, limit=32_768)
    assert "content" in error["field"], error
    await refused(memlog.call("profile.memories", profile="m"), 404)
    await memlog.call(remember, profile="m", content="e" * 32_768)
    await refused(memlog.call(remember, profile="m", content="e" * 32_769), 400, field="content", limit=32_768)
    await refused(memlog.call(remember, profile="m", content=" \n "), 400, field="content")
    await refused(memlog.call(remember, profile="m", content="x y", type="thought"), 400, field="type")
    await refused(memlog.call(remember, profile="m", content="x y", ttl_days=0.5), 400, field="ttl_days")
    await refused(memlog.call(remember, profile="m", content="x y", metadata={"a": "m" * 16_400}), 400,
                  field="metadata", limit=16_384)
    await refused(memlog.call("profile.search", profile="m", query=" "), 400, field="query")
    await refused(memlog.call("profile.search", profile="m", query="q" * 1_025), 400, field="query", limit=1_024)
    await memlog.call("profile.search", profile="m", query="q" * 1_024)
    for limit in (0, 101):
        await refused(memlog.call("profile.search", profile="m", query="q", limit=limit), 400, field="limit", limit=100)
    for limit in (0, 501):
        await refused(memlog.call("profile.memories", profile="m", limit=limit), 400, field="limit", limit=500)
    await refused(memlog.call("profile.memories", profile="m", cursor="nonsense"), 400, field="cursor")
    await refused(memlog.call("profile.search", profile="m", query="q", metadata_filter={"a": {"$near": 1}}), 400)
    await refused(memlog.call("profile.recall", profile="nobody", query="q"), 404, profile="nobody")
    await refused(memlog.call("profile.memory", profile="m", memory_id="no-such"), 404, memory_id="no-such")
    await refused(memlog.call("profile.forget", profile="m", memory_id="no-such"), 404, memory_id="no-such")
    await refused(memlog.call("job.get", job_id=str(uuid.uuid4())), 404)
    jobs = (await memlog.call("job.list", state="done", limit=1))["jobs"]
    await refused(memlog.call("job.retry", job_id=jobs[0]["job_id"]), 409)
    await refused(memlog.call(get, {"Memlog-Role": "root"}, profile="m"), 400, field="Memlog-Role")
    await refused(memlog.call("profile.gett", profile="m"), 400)
    await refused(Memlog(connection, "n" * 33).call(get, profile="m"), 400, field="namespace")
    # Another tenant sees nothing of this one.
    await refused(Memlog(connection, "other").call("profile.memories", profile="m"), 404)
    try:
        await connection.request("memlog.v0.acme.profile.get", b"{}", timeout=10)
        raise AssertionError("somebody answers on a version that is none")
    except NoRespondersError:
        pass


async def main(url):
    connection = await nats.connect(url)
    memlog = Memlog(connection)
    await discovers(connection)
    await converses(memlog)
    memory = await remembers_and_finds(memlog)
    await pages(memlog)
    await corrects_and_forgets(memlog, memory)
    await audits(memlog)
    await repeats(memlog)
    await speaks(memlog)
    await is_refused(memlog, connection)
    await connection.close()
    print("every reply was as documented")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
